import assert from 'node:assert/strict'
import { test } from 'node:test'
import { modelDeployment, ServingCluster } from '../../../../test/sim/serving-cluster.ts'
import type { Affinity } from '../../../api/affinity.ts'
import { servedModel } from '../observe/served-model.ts'
import { planServing } from '../plan.ts'
import { resolveRuntime } from '../steps/runtime.ts'
import { placementOf } from './placement.ts'

const zone = { labelSelector: { matchLabels: { app: 'cache' } }, topologyKey: 'zone' }
const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [zone] } }

const cases: Readonly<Record<string, readonly [spec: object, keys: readonly string[] | undefined]>> = {
  'a cache for one node': [{ storage: { size: '1Gi', accessMode: 'ReadWriteOnce' } }, ['kubernetes.io/hostname']],
  'its own affinity too': [
    { storage: { size: '1Gi', accessMode: 'ReadWriteOnce' }, scheduling: { affinity } },
    ['zone', 'kubernetes.io/hostname'],
  ],
  'a cache for many nodes': [{ storage: { size: '1Gi', accessMode: 'ReadWriteMany' } }, undefined],
  'a claim of the user': [{ storage: { claimName: 'c', accessMode: 'ReadWriteOnce' } }, undefined],
  'no cache': [{}, undefined],
}

for (const [what, [spec, keys]] of Object.entries(cases))
  test(`pods that share a cache for one node run on one node: ${what}`, () => {
    const { observed } = new ServingCluster(planServing, () => undefined)
    const model = modelDeployment(spec)
    const server = resolveRuntime({ ...observed, model })
    assert.ok(server)
    const { affinity: placed }: { readonly affinity?: Affinity } = placementOf(servedModel(model, server))
    const terms = placed?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    assert.deepEqual(
      terms?.map(({ topologyKey }) => topologyKey),
      keys,
    )
  })
