/**
 * The writes that one object costs, recorded from an operator at work, so that the same can be sent again without one:
 * what the operator takes beyond that is its own.
 */
import { trainingJobs } from '../../src/api/kinds.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import { type Client, createClient } from '../../src/kube/client.ts'
import type { ClientConfig } from '../../src/kube/config.ts'
import type { Call, Interceptor } from '../../src/kube/interceptor.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import { INTENT_ANNOTATION, marked } from '../../src/runtime/intent.ts'
import { startOperator } from '../../test/operator.ts'
import { until } from '../../test/until.ts'

export type Manifest = (namespace: string, name: string) => TrainingJob

export interface Recording {
  readonly calls: readonly Call[]
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** Notes every write that passes it, events aside. */
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

/** Lets an operator serve one job until all of its pods exist and its status says so. */
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

/** Sends the recorded writes for another owner, in the recorded order, those of one kind side by side as the operator does. */
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
 * With the digest that belongs to its new names, so that an operator later finds nothing to do about it. Digests tell the
 * order of members, too, so everything stays in its place.
 */
function remarked(object: KubeObject): KubeObject {
  const { resourceVersion, ...metadata } = object.metadata
  const { [INTENT_ANNOTATION]: stale, ...annotations } = metadata.annotations ?? {}
  if (stale === undefined) return object
  const { annotations: _none, ...bare } = metadata
  const said = Object.keys(annotations).length > 0 ? { ...metadata, annotations } : bare
  return withVersion(marked({ ...object, metadata: said }), resourceVersion)
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

/** Writes of the owner itself go one by one. */
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
