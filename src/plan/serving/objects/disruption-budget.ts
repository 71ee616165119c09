/** The PodDisruptionBudget of a version. */
import { PodDisruptionBudget } from '../../../kube/resources.ts'
import { serverLabels, versionedName } from '../../model-names.ts'
import type { ServedModel } from '../observe/served-model.ts'
import type { Version } from '../observe/version.ts'
import { child } from './child.ts'

/** None for a single pod: it would prevent its node from being drained. */
export function budget(model: ServedModel, version: Version): PodDisruptionBudget[] {
  const { minReplicas = 1 } = version.wanted?.scaling ?? {}
  if (minReplicas < 2) return []
  const labels = serverLabels(model, version.name)
  return [
    {
      ...child(model, PodDisruptionBudget, versionedName(model, version.name), {
        component: 'server',
        version: version.name,
      }),
      spec: { minAvailable: minReplicas - 1, selector: { matchLabels: labels } },
    },
  ]
}
