/** Oracles for the way back of a rollout, whatever splits the traffic. */
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import { type KubeObject, nameWithKind } from '../../../src/kube/object.ts'
import { Deployment } from '../../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../../src/plan/model-names.ts'
import { has, isBack, revisionOf } from '../../sim/rollout-record.ts'
import type { ClusterView, Oracle } from './oracle.ts'
import { isModel, isVersion, labelOf, modelOf, routeIn } from './serving-objects.ts'
import { inStoreOrder } from './store-order.ts'

export const rolloutOracles = (): Oracle[] => [noMoreForFailed(), sameTemplates()]

/** S3: once a rollout goes back, a version without a share in the last good weights never gets more traffic. */
function noMoreForFailed(): Oracle {
  const written = new Map<string, ReadonlyMap<string, number>>()
  const most = (version: string): number =>
    Math.max(0, ...[...written.values()].map((weights) => weights.get(version) ?? 0))
  return inStoreOrder({
    name: 'S3',
    onChange: ({ type, object }, cluster) => {
      const { uid = '' } = object.metadata
      const route = routeIn(object)
      if (type === 'deleted') written.delete(uid)
      if (type === 'deleted' || !route) return undefined
      const model = modelOf(object, cluster)
      const good = model && isBack(model) ? model.status?.rollout?.weights : undefined
      const raised = route.find(({ version, weight }) => good && !has(good, version, 1) && weight > most(version))
      const before = raised ? most(raised.version) : 0
      written.set(uid, new Map(route.map(({ version, weight }) => [version, weight])))
      return raised && `${nameWithKind(object)} gives ${raised.version} ${raised.weight} instead of ${before}`
    },
  })
}

const templateOf = (object: Deployment): string => JSON.stringify(object.spec?.template)
const isCurrent = ({ metadata, status }: ModelDeployment): boolean => status?.observedGeneration === metadata.generation

/** S6: a rollout that went back has restored the pod templates of the last good revision. */
function sameTemplates(): Oracle {
  /** Of versions with traffic, by revision, while it was completed. */
  const completed = new Map<number, Map<string, string>>()
  const judged = inStoreOrder({ name: 'S6', onChange: (_, cluster) => record(completed, cluster) })
  return {
    ...judged,
    atRest: (cluster) => [
      ...(judged.atRest?.(cluster) ?? []),
      ...cluster
        .all()
        .filter(isModel)
        .filter(isBack)
        .flatMap((model) => changedIn(model, completed, cluster)),
    ],
  }
}

function record(completed: Map<number, Map<string, string>>, cluster: ClusterView): undefined {
  for (const model of cluster.all().filter(isModel)) {
    const { phase, revision = 0, weights } = model.status?.rollout ?? {}
    if (phase !== 'Completed' || !isCurrent(model)) continue
    const templates = completed.get(revision) ?? new Map<string, string>()
    for (const server of cluster.list(Deployment).filter((one) => has(weights, versionOf(one), 1)))
      templates.set(versionOf(server), templateOf(server))
    completed.set(revision, templates)
  }
}

const versionOf = (object: KubeObject): string => (isVersion(object) ? (labelOf(object, VERSION_LABEL) ?? '') : '')

function changedIn(
  model: ModelDeployment,
  completed: ReadonlyMap<number, ReadonlyMap<string, string>>,
  cluster: ClusterView,
): string[] {
  const { stableRevision = 0 } = model.status?.rollout ?? {}
  const good = revisionOf(model, stableRevision)?.weights
  return [...(completed.get(stableRevision) ?? [])]
    .filter(([version]) => has(good, version, 1))
    .filter(([version, template]) => {
      const server = cluster.list(Deployment).find((one) => versionOf(one) === version)
      return !server || templateOf(server) !== template
    })
    .map(([version]) => `${version} does not have the pod template of revision ${stableRevision}`)
}
