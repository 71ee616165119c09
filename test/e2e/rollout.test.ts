/** Rollouts on a real kubelet: real routers count what scripted servers answer, and clients send requests all the time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { account, assertFailures } from '../fixtures/load-report.ts'
import { isIn, type ScriptedModel, scriptedModel, scriptedVersion } from '../fixtures/scripted-model.ts'

const rollout = {
  steps: [{ weight: 10 }, { weight: 50 }],
  analysis: {
    maxErrorRate: '5%',
    maxLatencyRatio: '300%',
    minRequests: 20,
    intervalSeconds: 5,
    watchSeconds: 20,
  },
}

let model: ScriptedModel

describe('a rollout on a real kubelet', () => {
  before(async () => {
    model = await scriptedModel({ rollout })
  })
  after(() => model.close())

  test('rolls back a version that fails 20 % of its requests, at its first step', async (t) => {
    const { result, status } = await model.rolled(scriptedVersion('v2', { ERRORS: '20' }), () =>
      model.becomes('rolled back', (found) => isIn('RolledBack', 2)(found) && found.weights === 'v1:100'),
    )
    const { rollout: state } = status
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.equal(state?.analysis?.metric, 'errorRate')
    assert.equal(state.step, 1)
    // A tenth of the requests, of which a fifth fail.
    assertFailures(result, 0.04)
  })

  test('rolls back a version that is slow relative to the stable one', async (t) => {
    const { result, status } = await model.rolled(scriptedVersion('v3', { DELAY: '100' }), () =>
      model.becomes('rolled back', (found) => isIn('RolledBack', 3)(found) && found.weights === 'v1:100'),
    )
    const { rollout: state } = status
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.equal(state?.analysis?.metric, 'latencyMs')
    assertFailures(result, 0)
  })

  test('promotes a good version step by step, without a failed request', async (t) => {
    const seen: string[] = []
    const { result } = await model.rolled(scriptedVersion('v4'), () =>
      model.becomes('completed', (status) => {
        if (status.weights !== undefined && seen.at(-1) !== status.weights) seen.push(status.weights)
        return isIn('Completed', 4)(status) && status.weights === 'v4:100'
      }),
    )
    t.diagnostic(`${seen.join(' → ')}; ${account(result)}`)
    assert.ok(seen.includes('v4:10 v1:90') && seen.includes('v4:50 v1:50'), seen.join(' → '))
    assertFailures(result, 0)
  })

  test('rolls back a version that turns bad after its promotion', async (t) => {
    const { result, status } = await model.rolled(scriptedVersion('v5'), async () => {
      await model.becomes('watched', isIn('Watching', 5))
      await fetch(`${model.url}/turn-bad`)
      return model.becomes('rolled back', (found) => isIn('RolledBack', 5)(found) && found.weights === 'v4:100')
    })
    const { rollout: state, history } = status
    t.diagnostic(`${state?.message ?? ''}; ${account(result)}`)
    assert.deepEqual(
      history?.map(({ result: how }) => how),
      ['Completed', 'RolledBack', 'RolledBack', 'Completed', 'RolledBack'],
    )
    assert.deepEqual(
      result.failures.filter((failure) => failure !== '500'),
      [],
    )
  })
})
