/**
 * `ml-operator check`: trains and serves a tiny model, to show that an installation works. It creates a TrainingJob, waits
 * until it is Completed, serves its result with a ModelDeployment, asks the model for a prediction, and deletes everything.
 * `helm test` runs it.
 */
import { modelDeployments, modelServers, trainingJobs } from './api/kinds.ts'
import { type CheckSettings, modelOf, serverOf, trainingOf } from './check-objects.ts'
import { type Flags, helpOf, parseFlags, parseInteger, parseNames, UsageError } from './command/flags.ts'
import { connection, kubeconfigFlag } from './connection.ts'
import { type Client, createClient } from './kube/client.ts'
import { isNotFound } from './kube/errors.ts'
import type { KubeObject, Resource } from './kube/object.ts'
import { sleep } from './kube/sleep.ts'

const checkFlags = {
  ...kubeconfigFlag,
  namespace: { value: 'NAME', env: 'POD_NAMESPACE', default: 'default', help: 'namespace of the objects' },
  name: { value: 'NAME', default: 'ml-operator-check', help: 'name of the objects' },
  image: { value: 'IMAGE', env: 'AGENT_IMAGE', help: 'image of this program, which trains and serves' },
  'image-pull-secrets': { value: 'NAMES', help: 'Secrets for pulling the image: a,b' },
  'storage-class': { value: 'NAME', help: 'StorageClass of the claim; default: that of the cluster' },
  'storage-size': { value: 'SIZE', default: '1Gi', help: 'size of the claim' },
  'timeout-seconds': { value: 'N', default: '300', help: 'time for the whole check' },
} as const satisfies Flags

/** One line per flag. */
export const checkHelp = helpOf(checkFlags)

const POLL_MS = 500

/** The model has learned y = 2x + 1. */
const [X, Y] = [3, 7]

export interface Check {
  readonly client: Client
  readonly settings: CheckSettings
  readonly signal: AbortSignal
  readonly say: (line: string) => void
  /** Replaces the request to the model. */
  readonly ask?: (url: string, signal: AbortSignal) => Promise<number>
}

export async function check(args: readonly string[], env: NodeJS.ProcessEnv, stopped: AbortSignal): Promise<void> {
  const flags = parseFlags(checkFlags, args, env)
  const { image, namespace, name, 'storage-class': storageClass, 'storage-size': storageSize } = flags
  if (image === undefined) throw new UsageError('--image is required: the image of this program')
  const timeoutMs = parseInteger('timeout-seconds', flags['timeout-seconds'], 1, 86_400) * 1_000
  const client = createClient(await connection(flags, env))
  const imagePullSecrets = parseNames('image-pull-secrets', flags['image-pull-secrets'] ?? '')
  const storage = { storageSize, ...(storageClass !== undefined && { storageClass }) }
  const settings = { namespace, name, image, imagePullSecrets, ...storage }
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(timeoutMs)])
  try {
    await runCheck({ client, settings, signal, say: (line) => void process.stdout.write(`${line}\n`) })
  } finally {
    await client.close()
  }
}

/** Fails with an Error that says what the installation did not do. Deletes its objects in any case. */
export async function runCheck(run: Check): Promise<void> {
  await removeAll(run)
  try {
    await trainModel(run)
    const url = await serveModel(run)
    const prediction = await predictionOf(url, run)
    if (Math.abs(prediction - Y) > 0.1) throw new Error(`the model predicts ${prediction} for ${X}, expected ${Y}`)
    run.say(`the model predicts ${prediction.toFixed(3)} for ${X}: the installation trains and serves`)
  } finally {
    await removeAll({ ...run, signal: AbortSignal.timeout(60_000) })
  }
}

async function trainModel(run: Check): Promise<void> {
  await run.client.create(trainingJobs, trainingOf(run.settings), { signal: run.signal })
  await follow(run, trainingJobs, ({ status }) => {
    const said = `training: ${[status?.state ?? 'no state yet', status?.reason].filter(Boolean).join(', ')}`
    if (status?.state === 'Failed') throw new Error(said)
    return { said, done: status?.state === 'Completed' }
  })
}

/** Resolves to the URL of the model. */
async function serveModel(run: Check): Promise<string> {
  await run.client.create(modelServers, serverOf(run.settings), { signal: run.signal })
  await run.client.create(modelDeployments, modelOf(run.settings), { signal: run.signal })
  const { status } = await follow(run, modelDeployments, ({ status: now }) => {
    const said = `serving: ${[now?.phase ?? 'no phase yet', now?.message].filter(Boolean).join(', ')}`
    if (now?.phase === 'Failed') throw new Error(said)
    return { said, done: now?.phase === 'Running' && now.url !== undefined }
  })
  return status?.url ?? ''
}

/** A new Service may need a moment until every node routes to it. */
async function predictionOf(url: string, { signal, ask = requestPrediction }: Check): Promise<number> {
  for (;;) {
    try {
      return await ask(url, signal)
    } catch (error) {
      if (signal.aborted) throw new Error(`${url} did not answer: ${String(error)}`, { cause: error })
      await sleep(POLL_MS, signal).catch(() => undefined)
    }
  }
}

async function requestPrediction(url: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(`${url}/predict?x=${X}`, { signal })
  if (!response.ok) throw new Error(`HTTP ${response.status}`)
  const { prediction } = (await response.json()) as { readonly prediction?: unknown }
  return Number(prediction)
}

interface Progress {
  readonly said: string
  readonly done: boolean
}

/** Reads the object until it is done. Says every change, and after the timeout the last one. */
async function follow<T extends KubeObject>(
  { client, settings: { namespace, name }, signal, say }: Check,
  resource: Resource<T>,
  judge: (object: T) => Progress,
): Promise<T> {
  for (let last = ''; ;) {
    const object = await client.get(resource, { namespace, name })
    const { said, done } = judge(object)
    if (said !== last) say(said)
    if (done) return object
    last = said
    await sleep(POLL_MS, signal).catch(() => {
      throw new Error(`timeout while ${said}`)
    })
  }
}

/** The model first: its pods use the claim, which goes with the job. */
async function removeAll({ client, settings: { namespace, name }, signal }: Check): Promise<void> {
  for (const resource of [modelDeployments, modelServers, trainingJobs] as const)
    await remove(client, resource, { namespace, name }, signal)
}

async function remove(
  client: Client,
  resource: Resource,
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(resource, key, { signal })
    for (;;) {
      await client.get(resource, key, { signal })
      await sleep(POLL_MS, signal)
    }
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
