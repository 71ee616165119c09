/** What must hold for a model and everything below it at every moment, whoever died when. */
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { Deployment, Pod } from '../../src/kube/resources.ts'
import { MODEL_UID_LABEL } from '../../src/plan/model-names.ts'
import { inOrder } from './in-order.ts'
import { isModel, isServed, isVersion, labelOf, modelOf } from './serving-objects.ts'
import { trafficOracles } from './traffic-oracles.ts'
import type { Oracle, Sighting } from './witness.ts'

const isOurs = (object: KubeObject): boolean => labelOf(object, MODEL_UID_LABEL) !== undefined

export function servingOracles(): Oracle[] {
  return [...trafficOracles(), lastOneStays(), owned, generations, honest]
}

/** S5: the last version that is ready stays, as long as the model does. */
function lastOneStays(): Oracle {
  const isAvailable = (other: Deployment): boolean => isVersion(other) && (other.status?.availableReplicas ?? 0) > 0
  return inOrder({
    name: 'S5',
    see: ({ type, object }, world) => {
      if (type !== 'deleted' || !isVersion(object) || !modelOf(object, world)) return undefined
      const isLast = !world.list(Deployment).some(isAvailable)
      return isLast ? `${object.metadata.name} was removed and no other version was ready` : undefined
    },
  })
}

/** G2: everything we make is controlled. */
const owned: Oracle = {
  name: 'G2',
  see: ({ type, object }) => {
    if (type !== 'created' || !isOurs(object)) return undefined
    const isControlled = object.metadata.ownerReferences?.some(({ controller }) => controller)
    return isControlled ? undefined : `${object.kind}/${object.metadata.name} has no controller`
  },
}

/** G3: the generation that a status speaks of exists, and never goes back. */
const generations: Oracle = {
  name: 'G3',
  see: ({ type, object, previous }: Sighting) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const observed = object.status?.observedGeneration ?? 0
    if (observed > (object.metadata.generation ?? 0)) return `observed ${observed} of ${object.metadata.generation}`
    const before = (previous as ModelDeployment | undefined)?.status?.observedGeneration ?? 0
    return observed < before ? 'the observed generation went back' : undefined
  },
}

/** G3: weights of a status sum to 100 or nothing; at rest, a model that is Ready has ready pods wherever it sends traffic. */
const honest: Oracle = {
  name: 'G3',
  see: ({ type, object }) => {
    if (type === 'deleted' || !isModel(object)) return undefined
    const sum = (object.status?.activeVersions ?? []).reduce((total, { weight = 0 }) => total + weight, 0)
    return sum === 0 || sum === 100 ? undefined : `the weights of the status sum to ${sum}`
  },
  atRest: (world) =>
    world
      .all()
      .filter(isModel)
      .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
      .flatMap(({ metadata, status }) => (status?.activeVersions ?? []).map((version) => ({ metadata, version })))
      .filter(({ version }) => (version.weight ?? 0) > 0)
      .filter(({ version }) => !isServed(version.name, world.list(Pod)))
      .map(({ metadata, version }) => `${metadata.name} is Ready, but ${version.name} has no ready pod`),
}
