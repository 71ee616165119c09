/** What only the router does. The contract of all providers is in test/contracts/traffic-provider.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyTargets, positive, proxyPod, wanted, withPods } from '../../../../../test/contracts/traffic-provider.ts'
import { rendered, worlds } from '../../../../../test/contracts/traffic-worlds.ts'
import type { Deployment } from '../../../../kube/resources.ts'
import type { TrafficObserved, TrafficProvider, TrafficTarget } from '../../index.ts'
import { router } from './router.ts'

const provider: TrafficProvider = router
const target = (): TrafficTarget => fc.sample(anyTargets, { numRuns: 1, seed: 7 })[0] as TrafficTarget
const settledFor = (model: TrafficTarget): TrafficObserved =>
  worlds.router.settled(provider.render(model, withPods(provider)), model)

test('a new weight changes neither its Deployment nor its configuration: nothing is rolled out', () => {
  const [one, other] = [100, 0].map((weight) => {
    const backends = [
      { version: 'v1', service: 'a', weight },
      { version: 'v2', service: 'b', weight: 100 - weight },
    ]
    return provider.render({ ...target(), backends }, withPods(provider))
  })
  assert.ok(one && other)
  assert.deepEqual(rendered(one, 'Deployment'), rendered(other, 'Deployment'))
  assert.notDeepEqual(one.annotate, other.annotate)
})

test('its pods pass Pod Security restricted, get no token and see no GPUs', () => {
  const { spec } = rendered(provider.render(target(), withPods(provider)), 'Deployment') as Deployment
  const pod = spec?.template.spec
  assert.equal(pod?.automountServiceAccountToken, false)
  assert.deepEqual(
    [pod.securityContext?.runAsNonRoot, pod.securityContext?.seccompProfile?.type],
    [true, 'RuntimeDefault'],
  )
  assert.deepEqual(
    pod.containers.map(({ name, env, securityContext }) => [name, env, securityContext?.capabilities]),
    ['envoy', 'agent'].map((name) => [name, [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }], { drop: ['ALL'] }]),
  )
})

test('the order of versions changes nothing at all', () => {
  fc.assert(
    fc.property(anyTargets, (model) => {
      const reversed = { ...model, backends: model.backends.toReversed() }
      assert.deepEqual(provider.render(reversed, withPods(provider)), provider.render(model, withPods(provider)))
    }),
  )
})

test('ignores a pod that is not ready and does not report', () => {
  const model = target()
  const observed = settledFor(model)
  const proxies = observed.proxies.map((proxy) => ({ ...proxy, pods: [...proxy.pods, proxyPod('c', false)] }))
  assert.deepEqual(positive(provider.inEffect(model, { ...observed, proxies })), wanted(model))
})

test('is not running while no pod is ready', () => {
  const model = target()
  const observed = settledFor(model)
  const proxies = observed.proxies.map((proxy) => ({ ...proxy, pods: [proxyPod('a', false)] }))
  const isRunning = (seen: TrafficObserved) =>
    provider.isRunning({ target: model, observed: seen, inEffect: undefined })
  assert.deepEqual([observed, { ...observed, proxies }].map(isRunning), [true, false])
})

test('a pod that reports other weights is called again and again; one that does not report is not', () => {
  const model = target()
  const settled = settledFor(model)
  const other = { startedAt: 0, versions: [{ version: 'v0', weight: 100, requests: 0, errors: 0, latencyMsSum: 0 }] }
  const annotated = (now: number, reports: TrafficObserved['reports']) =>
    provider.render(model, { ...settled, now, reports }).annotate.map(({ annotations }) => annotations)
  const deaf = new Map([...settled.reports, ['a', other]])
  const called = (reports: TrafficObserved['reports']) =>
    annotated(1, reports).map((own) => Object.keys(own).length > 1)
  assert.deepEqual([settled.reports, new Map(), deaf].map(called), [
    [false, false],
    [false, false],
    [true, false],
  ])
  assert.deepEqual(annotated(1, deaf), annotated(4_999, deaf))
  assert.notDeepEqual(annotated(1, deaf), annotated(5_000, deaf))
})
