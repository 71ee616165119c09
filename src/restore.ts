/**
 * `ml-operator restore`: creates the objects of a backup together with their status, also while the operator runs. Each is
 * created paused, gets its status, and is then released. An interrupted restore continues when it is run again; an object
 * that exists otherwise is left alone.
 */
import { readFile } from 'node:fs/promises'
import { text as readText } from 'node:stream/consumers'
import { parseAllDocuments } from 'yaml'
import { trainingJobs, trainingSchedules } from './api/kinds.ts'
import { PAUSED_ANNOTATION } from './api/paused.ts'
import { type Flags, helpOf, parseFlags, UsageError } from './command/flags.ts'
import { connection, connectionFlags } from './connection.ts'
import { type Client, createClient } from './kube/client.ts'
import { ApiError, isAlreadyExists, isNotFound } from './kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind, type Resource } from './kube/object.ts'
import { ownerNameOf, pausedBefore, pausedCopy, RESTORING, savedKindOf, savedKinds, statusFor } from './saved-object.ts'

const restoreFlags = {
  ...connectionFlags,
  file: { value: 'FILE', help: 'output of ml-operator backup; default: standard input' },
} as const satisfies Flags

/** One line per flag. */
export const restoreHelp = helpOf(restoreFlags)

export interface Restored {
  readonly created: number
  /** Existed already, and were not changed. */
  readonly kept: number
  readonly failed: number
}

/** Returns the exit code: 1 if an object could not be restored. */
export async function restore(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<number> {
  const flags = parseFlags(restoreFlags, args, env)
  const { file } = flags
  const objects = objectsIn(file === undefined ? await readText(process.stdin) : await readFile(file, 'utf8'))
  const client = createClient(await connection(flags, env))
  try {
    const { created, kept, failed } = await restoreAll(client, objects, say)
    say(`${created} restored, ${kept} left as they are, ${failed} failed`)
    return failed > 0 ? 1 : 0
  } finally {
    await client.close()
  }
}

/** The saved objects in a text, in the order in which they are restored. */
export function objectsIn(text: string): KubeObject[] {
  const documents = parseAllDocuments(text)
  const objects =
    'empty' in documents ? [] : documents.map((document) => document.toJS({ maxAliasCount: 0 }) as unknown)
  const rank = (object: KubeObject): number => savedKinds.indexOf(savedKindOf(object) as Resource)
  return objects
    .filter((object) => object !== null)
    .map(assertSaved)
    .toSorted((one, other) => rank(one) - rank(other))
}

function assertSaved(object: unknown, index: number): KubeObject {
  const { apiVersion = '', kind = '', metadata } = (object ?? {}) as Partial<KubeObject>
  if (typeof metadata?.name === 'string' && savedKindOf({ apiVersion, kind })) return object as KubeObject
  throw new UsageError(`document ${index + 1} is no object of ml-operator backup: ${apiVersion} ${kind}`.trimEnd())
}

/** One object that cannot be restored does not stop the others. */
export async function restoreAll(
  client: Client,
  objects: readonly KubeObject[],
  say: (line: string) => void,
): Promise<Restored> {
  const counts = { created: 0, kept: 0, failed: 0 }
  for (const saved of objects) {
    const where = `${nameWithKind(saved)} in ${saved.metadata.namespace ?? 'default'}`
    try {
      const isRestored = await restoreOne(client, saved)
      counts[isRestored ? 'created' : 'kept'] += 1
      if (!isRestored) say(`${where} exists and was not changed`)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      counts.failed += 1
      say(`${where} could not be restored: ${error.message}`)
    }
  }
  return counts
}

/** Returns false if the object exists and is not one of an interrupted restore. */
async function restoreOne(client: Client, saved: KubeObject): Promise<boolean> {
  const resource = savedKindOf(saved) as Resource
  const key = keyOf(saved)
  const current = await createdOrFound(client, resource, saved)
  if (current.metadata.annotations?.[PAUSED_ANNOTATION] !== RESTORING) return false
  const status = statusFor(saved, current)
  if (status !== undefined) await client.patch(resource, key, { status }, { subresource: 'status' })
  await client.patch(resource, key, { metadata: { annotations: { [PAUSED_ANNOTATION]: pausedBefore(saved) } } })
  return true
}

async function createdOrFound(client: Client, resource: Resource, saved: KubeObject): Promise<KubeObject> {
  try {
    return await client.create(resource, pausedCopy(saved, await ownerOf(client, resource, saved)))
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    return client.get(resource, keyOf(saved))
  }
}

/** The schedule of a restored TrainingJob. Without it, the job is restored without an owner. */
async function ownerOf(client: Client, resource: Resource, saved: KubeObject): Promise<KubeObject | undefined> {
  const name = resource === trainingJobs ? ownerNameOf(saved) : undefined
  if (name === undefined) return undefined
  try {
    return await client.get(trainingSchedules, { ...keyOf(saved), name })
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}
