import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const algorithm = properties('src/plan/serving/autoscaling/recommendation.test.ts')
const scaler = contract('src/plan/serving/autoscaling/scaler.test.ts')
const FILE = 'src/plan/serving/autoscaling/recommendation.ts'
const SCALER = 'src/plan/serving/autoscaling/scaler.ts'

export const autoscalingMutants: readonly Mutant[] = [
  {
    id: 'serving/scale-rounds-down',
    file: FILE,
    what: 'A load that needs a part of a pod more does not get it.',
    from: 'Math.ceil(pods)',
    to: 'Math.floor(pods)',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-without-tolerance',
    file: FILE,
    what: 'The number of pods follows every small change of the load.',
    from: 'difference <= TOLERANCE * current',
    to: 'difference <= 0 * current',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-lowest-load',
    file: FILE,
    what: 'The lowest of several targets counts.',
    from: 'Math.max(0, ...loads.map(',
    to: 'Math.min(...loads.map(',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-beyond-bounds',
    file: FILE,
    what: 'The number of pods exceeds its bounds.',
    from: 'const needed = bounded(neededPods(current, loads), demand)',
    to: 'const needed = neededPods(current, loads)',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-unlimited-growth',
    file: FILE,
    what: 'A version grows to any size at once.',
    from: 'Math.min(wanted, growthLimit(recorded, current, now))',
    to: 'wanted',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-growth-by-look',
    file: FILE,
    what: 'The limit of growth counts from every look, so frequent looks let a version grow without limit.',
    from: 'changes.filter(({ time }) => (millis(time) ?? 0) > now - GROWTH_MS)',
    to: 'changes.filter(({ time }) => (millis(time) ?? 0) > now)',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-unstable',
    file: FILE,
    what: 'A version shrinks at once.',
    from: '<= now - STABILIZATION_MS',
    to: '<= now',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-forgets-peak',
    file: FILE,
    what: 'A peak within the last five minutes is forgotten.',
    from: 'before.filter(({ replicas }) => replicas > wanted)',
    to: 'before.slice(0, 0)',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-down-incomplete',
    file: FILE,
    what: 'A version shrinks although a router has not reported its requests.',
    from: 'isComplete ? needed : Math.max(needed, current)',
    to: 'needed',
    caughtBy: algorithm,
  },
  {
    id: 'serving/scale-two-writers',
    file: SCALER,
    what: 'The operator sets the number of pods while an autoscaler still exists.',
    from: 'isTaken || ',
    to: '',
    caughtBy: scaler,
  },
  {
    id: 'serving/scale-despite-adapter',
    file: SCALER,
    what: 'The operator scales although an autoscaler finds the metrics.',
    from: 'neededApis(scaling).some((api) => !metricApis.has(api))',
    to: 'true',
    caughtBy: scaler,
  },
  {
    id: 'serving/scale-before-record',
    file: 'src/plan/serving/steps/scale.ts',
    what: 'A number is set before it is recorded.',
    from: 'byRequests.record && version.recorded?.autoscaling?.replicas',
    to: 'byRequests.record?.replicas',
    caughtBy: scaler,
  },
]
