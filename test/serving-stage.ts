/** A namespace with the serving half of the operator, a kubelet and routers of its own, and a user with one model. */
import type { TestContext } from 'node:test'
import { modelDeployments } from '../src/api/kinds.ts'
import type { Condition } from '../src/api/conditions.ts'
import type { ActiveVersion } from '../src/api/modeldeployment-parts.ts'
import type { ModelDeployment } from '../src/api/modeldeployment.v1.ts'
import type { Client } from '../src/kube/client.ts'
import type { ClientConfig } from '../src/kube/config.ts'
import { isNotFound } from '../src/kube/errors.ts'
import type { KubeObject, Resource } from '../src/kube/object.ts'
import { Deployment, Event, Namespace, Pod } from '../src/kube/resources.ts'
import type { ServingOptions } from '../src/reconcile/serving.ts'
import { Audit } from './audit.ts'
import { FakeRouters, servingFate } from './fake-routers.ts'
import { type Decide, Kubelet } from './kubelet.ts'
import { modelDeployment, type ModelSpecInput } from './model-deployment.ts'
import { startServing } from './serving-operator.ts'
import { until } from './until.ts'

export const MODEL = 'bert'

export interface ServingPlace {
  readonly client: Client
  readonly cluster: ClientConfig
  readonly node: string
}

export interface ServingSetup {
  readonly namespace: string
  readonly decide?: Decide
  readonly drainSeconds?: number
  readonly resyncMs?: number
  readonly rates?: ServingOptions['rates']
}

export type ServingStage = ReturnType<typeof servingStage>

export function servingStage(t: TestContext, place: ServingPlace, setup: ServingSetup) {
  const { client, cluster, node } = place
  const { namespace, decide = servingFate(), drainSeconds = 0, resyncMs, rates } = setup
  const key = { namespace, name: MODEL }
  const audit = new Audit()
  const routers = new FakeRouters()
  const start = () =>
    startServing({
      cluster,
      namespace,
      interceptors: [audit.interceptor],
      readReports: routers.read,
      config: { drainSeconds },
      ...(resyncMs !== undefined && { resyncMs }),
      ...(rates && { rates }),
    })
  let operator = start()
  const kubelet = new Kubelet({ client, namespace, node, decide })
  t.after(() => Promise.all([operator.stop(), kubelet.stop()]))
  return {
    ...asked(client, namespace),
    namespace,
    key,
    audit,
    routers,
    kubelet,
    operator: () => operator,
    restart: async () => {
      await operator.stop()
      operator = start()
    },
    create: (spec: ModelSpecInput = {}) => client.create(modelDeployments, modelDeployment(namespace, MODEL, spec)),
    change: (spec: ModelSpecInput) => client.patch(modelDeployments, key, { spec }),
    /** Three passes over everything. */
    rests: async () => {
      const since = await operator.passes()
      await until('three more passes', async () => (await operator.passes()) >= since + 3)
    },
  }
}

/** Nothing is written at rest; what is written after a restart, then. */
export async function writesAfterRest({ audit, rests, restart }: ServingStage): Promise<string[]> {
  await until('three passes without a write', async () => {
    await audit.take()
    await rests()
    return (await audit.take()).length === 0
  })
  await restart()
  await rests()
  return audit.take()
}

/** What a user asks of the API server. */
function asked(client: Client, namespace: string) {
  const model = () => client.get(modelDeployments, { namespace, name: MODEL })
  const pods = async () => (await client.list(Pod, { namespace })).items
  const events = async () => (await client.list(Event, { namespace })).items
  const get = <T extends KubeObject>(resource: Resource<T>, name: string) => client.get(resource, { namespace, name })
  return {
    model,
    pods,
    events,
    get,
    deployments: async () => (await client.list(Deployment, { namespace })).items.map(({ metadata }) => metadata.name),
    becomes: (what: string, holds: (model: ModelDeployment) => unknown): Promise<ModelDeployment> =>
      until(`the model to be ${what}`, async () => {
        const found = await model()
        return isCurrent(found) && Boolean(holds(found)) ? found : undefined
      }),
    reaches: (phase: string): Promise<ModelDeployment> =>
      until(`the model to be ${phase}`, async () => {
        const found = await model()
        return isCurrent(found) && found.status?.phase === phase ? found : undefined
      }),
    exists: <T extends KubeObject>(resource: Resource<T>, name: string) =>
      until(`${resource.kind}/${name}`, () => get(resource, name)),
    isGone: (resource: Resource, name: string) =>
      until(`${resource.kind}/${name} to be gone`, () => get(resource, name).then(() => false, isNotFound)),
    says: (reason: string) =>
      until(`an event ${reason}`, async () => (await events()).find((event) => event.reason === reason)),
  }
}

function isCurrent({ metadata, status }: ModelDeployment): boolean {
  return status?.observedGeneration === metadata.generation
}

/** The weights that the status tells, of versions that get any. */
export function weightsOf({ status }: ModelDeployment): Record<string, number> {
  const weighted = (status?.activeVersions ?? []).filter(({ weight = 0 }) => weight > 0)
  return Object.fromEntries(weighted.map(({ name, weight = 0 }) => [name, weight]))
}

export function conditionOf({ status }: ModelDeployment, type: string): Partial<Condition> {
  return status?.conditions?.find((condition) => condition.type === type) ?? {}
}

export function versionIn({ status }: ModelDeployment, version: string): Partial<ActiveVersion> {
  return status?.activeVersions?.find(({ name }) => name === version) ?? {}
}

/** A namespace for a test on a cluster of its own. */
export async function ownNamespace(t: TestContext, client: Client, name: string): Promise<string> {
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  await until(`ServiceAccount default in ${name}`, () =>
    client.request({ method: 'GET', path: `/api/v1/namespaces/${name}/serviceaccounts/default` }),
  )
  t.after(() => client.delete(Namespace, { name }))
  return name
}
