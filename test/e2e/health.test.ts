/** Sick pods on a real kubelet: the operator checks them over the pod network, and evicts them through the API. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Pod } from '../../src/kube/resources.ts'
import { ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { isPodReady } from '../../src/plan/pod-ready.ts'
import { account } from '../fixtures/load-report.ts'
import { loadedWhile, type ScriptedModel, scriptedModel } from '../fixtures/scripted-model.ts'
import { until } from '../timing/until.ts'

const spec = {
  healthCheck: { endpoint: '/health', intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 3 },
  scaling: { minReplicas: 2, maxReplicas: 2 },
}

const SERVERS = `${VERSION_LABEL}=v1,${ROLE_LABEL}=server`

let model: ScriptedModel

async function servers(): Promise<Pod[]> {
  const { client, key } = model
  const { items } = await client.list(Pod, { namespace: key.namespace, labelSelector: SERVERS })
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

const turnSick = ({ status }: Pod): Promise<unknown> => fetch(`http://${status?.podIP}:8080/turn-sick`)

describe('health checks on a real kubelet', () => {
  before(async () => {
    model = await scriptedModel(spec)
    await model.becomes('healthy', ({ conditions = [], ready }) => {
      return ready === '2/2' && conditions.some(({ type, status }) => type === 'Healthy' && status === 'True')
    })
  })
  after(() => model.close())

  test('a pod that answers 500 on /health is replaced, and clients lose no request', async (t) => {
    const [sick] = await servers()
    assert.ok(sick)
    const { result, status } = await loadedWhile(model.url, async () => {
      await turnSick(sick)
      await model.becomes('rid of the sick pod', ({ activeVersions }) => activeVersions?.[0]?.health?.evictions === 1)
      return model.becomes('healthy again', ({ conditions = [], ready }) => {
        return ready === '2/2' && conditions.some(({ type, status: is }) => type === 'Healthy' && is === 'True')
      })
    })
    t.diagnostic(`${status.activeVersions?.[0]?.health?.lastEvictionTime ?? ''}; ${account(result)}`)
    assert.ok(!(await servers()).some(({ metadata }) => metadata.uid === sick.metadata.uid))
    assert.deepEqual(result.failures, [])
  })

  test('with all pods sick, the pods stay and the model is Degraded with the reason', async (t) => {
    const all = await until('two ready pods', async () => {
      const found = await servers()
      return found.length === 2 && found.every(isPodReady) && found
    })
    await Promise.all(all.map(turnSick))
    const { activeVersions } = await model.becomes('degraded', ({ phase }) => phase === 'Degraded')
    t.diagnostic(activeVersions?.[0]?.message ?? '')
    await until('no pod to be ready', async () => !(await servers()).some(isPodReady))
    const left = await servers()
    assert.ok(left.some(({ metadata }) => all.some((pod) => pod.metadata.uid === metadata.uid)))
  })
})
