import type { Mutant } from '../mutant.ts'
import { contract, servingHistories } from '../oracles.ts'

const FILE = 'src/plan/serving/steps/surge.ts'
const surges = contract('src/plan/serving/steps/surge.test.ts')
const gathered = contract('src/reconcile/gather-devices.test.ts')

export const surgeMutants: readonly Mutant[] = [
  {
    id: 'serving/surge-not-recorded-first',
    file: FILE,
    what: 'Pods are replaced without surge before that is recorded.',
    from: 'record: { template, maxSurge, message }, isHeld: true }',
    to: 'record: { template, maxSurge, message } }',
    caughtBy: servingHistories,
  },
  {
    id: 'serving/surge-into-nothing',
    file: FILE,
    what: 'Pods surge although no device is free.',
    from: 'if (roomIn(fitting, demand) > 0) return SURGE',
    to: 'if (roomIn(fitting, demand) >= 0) return SURGE',
    caughtBy: servingHistories,
  },
  {
    id: 'serving/surge-forgotten-midway',
    file: FILE,
    what: 'The decision is forgotten as soon as the new template is written.',
    from: 'return !isRolling(version) && updatedReplicas >= pods && availableOf(version) >= pods',
    to: 'return updatedReplicas >= 0 && pods >= 0',
    caughtBy: servingHistories,
  },
  {
    id: 'serving/surge-in-vain',
    file: FILE,
    what: 'A pod ends although the new one finds no room in its place.',
    from: 'const maxSurge = isHelpful ? 0 : 1',
    to: 'const maxSurge = 0',
    caughtBy: surges,
  },
  {
    id: 'serving/surge-of-another-template',
    file: FILE,
    what: 'The decision on an earlier template is applied to this one.',
    from: 'recorded?.rollingUpdate?.template === template ? recorded.rollingUpdate : undefined',
    to: "template === '' ? undefined : recorded?.rollingUpdate",
    caughtBy: surges,
  },
  {
    id: 'serving/surge-at-rest',
    file: FILE,
    what: 'Free devices are asked for in every pass.',
    from: 'return present !== undefined && present !== template',
    to: 'return present !== undefined',
    caughtBy: surges,
  },
  {
    id: 'serving/surge-shortage-not-said',
    file: FILE,
    what: 'A new version does not say that its devices are not free.',
    from: 'if (roomIn(fitting, demand) >= demand.pods) return {}',
    to: 'if (roomIn(fitting, demand) >= 0) return {}',
    caughtBy: surges,
  },
  {
    id: 'reconcile/devices-of-others-ignored',
    file: 'src/reconcile/gather-devices.ts',
    what: 'What pods of others hold is not counted.',
    from: 'known.set(next.name, { ...next, held: heldBy(pods) })',
    to: 'known.set(next.name, next)',
    caughtBy: gathered,
  },
  {
    id: 'reconcile/devices-of-ended-pods',
    file: 'src/plan/pod/devices.ts',
    what: 'Pods that have ended count as holding their devices.',
    from: "status?.phase !== 'Succeeded' && status?.phase !== 'Failed'",
    to: "status?.phase !== 'Failed'",
    caughtBy: gathered,
  },
  {
    id: 'reconcile/devices-of-lost-nodes',
    file: 'src/reconcile/gather-devices.ts',
    what: 'Devices of nodes that take no pods count as free.',
    from: 'return isReady && !spec?.unschedulable && metadata.deletionTimestamp === undefined',
    to: 'return isReady || metadata.deletionTimestamp === undefined || Boolean(spec?.unschedulable)',
    caughtBy: gathered,
  },
]
