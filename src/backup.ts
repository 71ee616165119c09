/** `ml-operator backup`: prints all objects of our kinds with their status, as YAML for `ml-operator restore`. */
import { stringify } from 'yaml'
import { type Flags, helpOf, parseFlags, parseNames } from './command/flags.ts'
import { connection, connectionFlags } from './connection.ts'
import { type Client, createClient } from './kube/client.ts'
import { isNotFound } from './kube/errors.ts'
import type { KubeObject, Resource } from './kube/object.ts'
import { savedKinds, savedOf } from './saved-object.ts'

const backupFlags = {
  ...connectionFlags,
  namespace: { value: 'NAMES', help: 'save only these namespaces: a,b; default: all' },
} as const satisfies Flags

/** One line per flag. */
export const backupHelp = helpOf(backupFlags)

export interface Output {
  /** Resolves when the text is written. */
  readonly write: (text: string) => Promise<void>
  readonly say: (line: string) => void
}

export async function backup(args: readonly string[], env: NodeJS.ProcessEnv, output: Output): Promise<void> {
  const flags = parseFlags(backupFlags, args, env)
  const namespaces = parseNames('namespace', flags.namespace ?? '')
  const client = createClient(await connection(flags, env))
  try {
    await saveAll(client, namespaces, output)
  } finally {
    await client.close()
  }
}

/** Page by page, so that memory does not grow with the number of objects. */
export async function saveAll(client: Client, namespaces: readonly string[], { write, say }: Output): Promise<void> {
  for (const kind of savedKinds) {
    let count = 0
    for await (const object of objectsOf(client, kind, namespaces)) {
      await write(`---\n${stringify(savedOf(object), { lineWidth: 0 })}`)
      count += 1
    }
    say(`${count} of ${kind.plural}.${kind.group}`)
  }
}

/** A kind that is not installed has no objects. */
async function* objectsOf(client: Client, kind: Resource, namespaces: readonly string[]): AsyncIterable<KubeObject> {
  const scopes = namespaces.length > 0 ? namespaces.map((namespace) => ({ namespace })) : [{}]
  try {
    for (const scope of scopes) for await (const { items } of client.pages(kind, scope)) yield* items
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
