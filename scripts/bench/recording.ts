/**
 * Records the writes of an operator for one object and replays them for others without an operator. The difference in time is the
 * operator's own cost.
 */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import type { Call, Interceptor } from '../../src/kube/interceptor.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import { TEMPLATE_ANNOTATION } from '../../src/plan/training/index.ts'
import { INTENT_ANNOTATION, marked } from '../../src/runtime/intent.ts'
import { startOperator } from '../../test/operator/operator.ts'
import { until } from '../../test/timing/until.ts'

export type Manifest = (namespace: string, name: string) => TrainingJob

export interface Recording {
  readonly calls: readonly Call[]
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Records every write, except for events. */
export function recorder(): { readonly calls: readonly Call[]; readonly interceptor: Interceptor } {
  const calls: Call[] = []
  const interceptor: Interceptor = (call, next) => {
    const isOwn = !['get', 'list', 'watch'].includes(call.verb) && call.resource?.plural !== 'events'
    const { signal: _ended, ...recorded } = call
    if (isOwn && call.attempt === 1) calls.push(recorded)
    return next(call)
  }
  return { calls, interceptor }
}

/** Records an operator with one job until all pods exist and the status reports them. */
export async function record(cluster: ClientConfig, namespace: string, manifest: Manifest): Promise<Recording> {
  const { calls, interceptor } = recorder()
  const client = createClient(cluster)
  const operator = startOperator({ cluster, namespace, interceptors: [interceptor] })
  const name = 'recorded'
  const { metadata, spec } = await client.create(trainingJobs, manifest(namespace, name))
  await until('all pods of the recorded job', async () => {
    const { items } = await client.list(Pod, { namespace })
    const { status } = await client.get(trainingJobs, { namespace, name })
    return items.length === spec.numWorkers && status?.attempts === 1
  })
  await operator.stop()
  await client.close()
  return { calls, namespace, name, uid: metadata.uid ?? '' }
}

/** Sends the recorded writes for another owner in the recorded order; those of one kind in parallel, as the operator does. */
export async function replay(client: Client, recording: Recording, owner: KubeObject): Promise<void> {
  let { resourceVersion } = owner.metadata
  for (const run of runsOfOneKind(recording.calls, owner.kind)) {
    const answers = await Promise.all(
      run.map((call) => send(client, rewritten(call, recording, owner, resourceVersion))),
    )
    const own = answers.find(({ kind }) => kind === owner.kind)
    resourceVersion = own?.metadata.resourceVersion ?? resourceVersion
  }
}

function rewritten(call: Call, from: Recording, { kind, metadata }: KubeObject, resourceVersion?: string): Call {
  const renamed = (text: string): string =>
    text
      .replaceAll(from.namespace, metadata.namespace ?? '')
      .replaceAll(from.name, metadata.name)
      .replaceAll(from.uid, metadata.uid ?? '')
  const object = JSON.parse(renamed(call.body ?? '')) as KubeObject
  const isOwn = call.resource?.kind === kind
  const body = JSON.stringify(isOwn ? withVersion(object, resourceVersion) : remarked(object))
  return { ...call, path: renamed(call.path), body }
}

/**
 * Updates the intent digest for the new names, so that an operator later finds nothing to change. Digests depend on the order of
 * members, so the order is kept. The template hash of a worker is omitted: that of another job would look like an edit.
 */
function remarked(object: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  const { [INTENT_ANNOTATION]: stale, [TEMPLATE_ANNOTATION]: _recorded, ...annotations } = metadata.annotations ?? {}
  if (stale === undefined) return object
  const { annotations: _none, ...bare } = metadata
  const kept = Object.keys(annotations).length > 0 ? { ...metadata, annotations } : bare
  return withVersion(marked({ ...object, metadata: kept }), resourceVersion)
}

function withVersion(object: KubeObject, resourceVersion: string | undefined): KubeObject {
  return { ...object, metadata: { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) } }
}

async function send(client: Client, { method, path, body = '', contentType }: Call): Promise<KubeObject> {
  const [bare = '', query = ''] = path.split('?')
  const answer = await client.request({
    method,
    path: bare,
    query: Object.fromEntries(new URLSearchParams(query)),
    body: JSON.parse(body) as unknown,
    ...(contentType !== undefined && { contentType }),
  })
  return answer as KubeObject
}

/** Writes to the owner itself are sequential. */
function runsOfOneKind(calls: readonly Call[], owner: string): Call[][] {
  const runs: Call[][] = []
  for (const call of calls) {
    const run = runs.at(-1)
    const isSame = run?.[0]?.resource?.plural === call.resource?.plural && call.resource?.kind !== owner
    if (run && isSame) run.push(call)
    else runs.push([call])
  }
  return runs
}
