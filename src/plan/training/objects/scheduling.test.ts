import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Affinity } from '../../../api/affinity.ts'
import type { TrainingConfig } from '../config.ts'
import { jobScheduling } from './scheduling.ts'

const NODE = 'kubernetes.io/hostname'
const once = { storage: { accessModes: ['ReadWriteOnce'] } }
const both = { storage: { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } }
const withChief = { framework: 'tensorflow', roles: [{ name: 'chief', replicas: 1 }] }

interface Case {
  readonly spec: object
  readonly settings?: Partial<TrainingConfig>
  /** Topology keys of the required pod affinity. */
  readonly keys?: readonly string[]
}

const cases: Readonly<Record<string, Case>> = {
  'several workers': { spec: { numWorkers: 2, checkpoint: once }, keys: [NODE] },
  'a worker and a chief': { spec: { numWorkers: 1, ...withChief, checkpoint: once }, keys: [NODE] },
  'the setting of the operator': {
    spec: { numWorkers: 2 },
    settings: { checkpointAccessMode: 'ReadWriteOnce' },
    keys: [NODE],
  },
  'a topology key': {
    spec: { numWorkers: 2, checkpoint: once, scheduling: { topologyKey: 'zone' } },
    keys: ['zone', NODE],
  },
  'one worker': { spec: { numWorkers: 1, checkpoint: once } },
  'a volume for many nodes': { spec: { numWorkers: 2 } },
  'both access modes': { spec: { numWorkers: 2, checkpoint: both } },
  'no checkpoints': { spec: { numWorkers: 2, checkpoint: { ...once, enabled: false } } },
}

for (const [what, { spec, settings = {}, keys }] of Object.entries(cases))
  test(`pods that share a volume for one node run on one node: ${what}`, () => {
    const { observed } = new TrainingCluster(spec)
    const { affinity } = jobScheduling(observed.job, 0, { ...observed.config, ...settings }) as { affinity?: Affinity }
    const terms = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    assert.deepEqual(
      terms?.map(({ topologyKey }) => topologyKey),
      keys,
    )
  })
