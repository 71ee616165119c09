import type { ServingOptions } from '../../src/reconcile/serving.ts'
import { FakeGateway } from '../fake-gateway.ts'
import { FakeRouters } from '../fake-routers.ts'
import { startServing } from '../serving-operator.ts'
import { areTrafficKindsServed, installTrafficKinds, removeTrafficKinds } from '../traffic-kinds.ts'
import { type LabOptions, openLab } from './lab.ts'
import type { Life } from './process.ts'
import type { Lab } from './run.ts'

/** The routers of each namespace: they outlive the operator. */
const routers = new Map<string, FakeRouters>()

export function routersOf(namespace: string): FakeRouters {
  const known = routers.get(namespace) ?? new FakeRouters()
  routers.set(namespace, known)
  return known
}

/** Between Deployments and pods; the operator never looks at them. */
export const UNSEEN = 'ReplicaSet'

type ServingLab = Lab & { close(): Promise<void> }
type ServingLabOptions = Omit<LabOptions, 'start'>
type Planner = ServingOptions['planner']

/** The serving half of the operator as the program under test, perhaps with another planner than its own. */
export function servingLab(kubeconfig: string, options: ServingLabOptions, planner?: Planner): Promise<ServingLab> {
  return openLab(kubeconfig, {
    ...options,
    start: (program): Life => {
      const readReports = routersOf(program.namespace).read
      const operator = startServing({ ...program, readReports, ...(planner && { planner }) })
      return { ...operator, hasSeen: (objects) => operator.hasSeen(objects.filter(({ kind }) => kind !== UNSEEN)) }
    },
  })
}

/** The same on a cluster with Istio and the Gateway API, until it is closed, and with a Gateway in every namespace. */
export async function routedLab(
  kubeconfig: string,
  options: ServingLabOptions,
  planner?: Planner,
): Promise<ServingLab> {
  const lab = await servingLab(kubeconfig, options, planner)
  const wereThere = await areTrafficKindsServed(lab.client)
  if (!wereThere) await installTrafficKinds(lab.client)
  return {
    ...lab,
    neighbour: (namespace) => new FakeGateway(lab.client, namespace),
    close: async () => {
      if (!wereThere) await removeTrafficKinds(lab.client)
      await lab.close()
    },
  }
}
