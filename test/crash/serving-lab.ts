import { FakeRouters } from '../fake-routers.ts'
import { startServing } from '../serving-operator.ts'
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

/** The serving half of the operator as the program under test. */
export function servingLab(
  kubeconfig: string,
  options: Omit<LabOptions, 'start'>,
): Promise<Lab & { close(): Promise<void> }> {
  return openLab(kubeconfig, {
    ...options,
    start: (program): Life => {
      const operator = startServing({ ...program, readReports: routersOf(program.namespace).read })
      return { ...operator, hasSeen: (objects) => operator.hasSeen(objects.filter(({ kind }) => kind !== UNSEEN)) }
    },
  })
}
