/** A blue-green switch on a real kubelet, promoted by hand and aborted by hand, under load. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { modelDeployments } from '../../src/api/kinds.ts'
import { ABORT_ANNOTATION, PROMOTE_ANNOTATION } from '../../src/api/serving-rollout.ts'
import { Service } from '../../src/kube/resources.ts'
import { until } from '../timing/until.ts'
import { account } from '../fixtures/load-report.ts'
import { isIn, type ScriptedModel, scriptedModel, scriptedVersion } from '../fixtures/scripted-model.ts'

const rollout = { strategy: 'blueGreen', blueGreen: { pause: true, keepSeconds: 600 } }

let model: ScriptedModel

const annotate = (name: string, value: string): Promise<unknown> =>
  model.client.patch(modelDeployments, model.key, { metadata: { annotations: { [name]: value } } })

/** What the preview answers, once there is one. */
const previewed = (): Promise<string> =>
  until('an answer of the preview', async () => {
    const { spec } = await model.client.get(Service, { ...model.key, name: 'digits-preview' })
    const response = await fetch(`http://${spec?.clusterIP}:8080/predict`)
    return response.ok && response.text()
  })

const answer = async (): Promise<string> => (await fetch(`${model.url}/predict`)).text()

describe('a blue-green switch on a real kubelet', () => {
  before(async () => {
    model = await scriptedModel({ rollout })
  })
  after(() => model.close())

  test('shows the new version at the preview, switches all traffic when promoted, and loses no request', async (t) => {
    const { result } = await model.rolled(scriptedVersion('v2'), async () => {
      const { weights } = await model.becomes('previewed', isIn('Paused', 2))
      assert.equal(weights, 'v2:0 v1:100')
      assert.equal(await previewed(), 'v2')
      await annotate(PROMOTE_ANNOTATION, '2')
      const status = await model.becomes('switched', isIn('Watching', 2))
      await until('an answer of the new version', async () => (await answer()) === 'v2')
      return status
    })
    t.diagnostic(account(result))
    assert.deepEqual(result.failures, [])
    assert.deepEqual([...result.answers.keys()].toSorted(), ['v1', 'v2'])
  })

  test('switches back at once when aborted, because the old version is kept', async (t) => {
    const { result, status } = await model.rolled(scriptedVersion('v2'), async () => {
      await annotate(ABORT_ANNOTATION, '2')
      return model.becomes('aborted', (found) => isIn('Aborted', 2)(found) && found.weights === 'v1:100')
    })
    t.diagnostic(`${status.rollout?.message ?? ''}; ${account(result)}`)
    assert.deepEqual(result.failures, [])
    assert.equal(await answer(), 'v1')
  })
})
