import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyTargets, withPods } from '../../../test/contracts/traffic-provider.ts'
import { neededRules, providers, type TrafficTarget, usableRules } from './index.ts'

const HEADER = { name: 'X-Tester', value: 'yes' }
const COOKIE = { name: 'tester', value: 'a.b' }
const RULES = {
  mirror: { version: 'v2', percent: 25 },
  match: [
    { version: 'v2', header: HEADER },
    { version: 'v1', cookie: COOKIE },
  ],
}

const target = (): TrafficTarget => ({
  ...(fc.sample(anyTargets, { numRuns: 1, seed: 3 })[0] as TrafficTarget),
  port: 8080,
  backends: [
    { version: 'v1', service: 'm-v1', weight: 100 },
    { version: 'v2', service: 'm-v2', weight: 0 },
  ],
  rules: RULES,
})

const specOf = (kind: string, name: 'istio' | 'gateway') => {
  const provider = providers.of(name)
  const found = provider.render(target(), withPods(provider)).apply.find((object) => object.kind === kind)
  return (found as unknown as { readonly spec: Record<string, unknown> }).spec
}

describe('rules beside the weights', () => {
  test('need a provider that applies them', () => {
    assert.deepEqual(neededRules(RULES), ['mirror', 'headers', 'cookies'])
    assert.deepEqual(neededRules({}), [])
    const request = { versions: 1, isSplit: false, hasGateways: false }
    const everything = new Set(providers.kinds.map(({ resource }) => `${resource.plural}.${resource.group}`))
    const best = (needs: ReturnType<typeof neededRules>, hasGateways = false) =>
      providers.best({ ...request, needs, hasGateways }, everything).name
    assert.deepEqual(
      [best([]), best(['mirror']), best(['stickiness']), best(['cookies'], true)],
      ['direct', 'istio', 'router', 'istio'],
    )
  })

  test('leave out versions that cannot take requests', () => {
    assert.deepEqual(usableRules(RULES, new Set(['v1'])), { match: [RULES.match[1]] })
    assert.deepEqual(usableRules(RULES, new Set(['v1', 'v2'])), RULES)
    assert.deepEqual(usableRules({ mirror: RULES.mirror }, new Set()), {})
  })

  test('are matches before the weights, and a mirror, in a VirtualService', () => {
    const destination = (subset: string) => ({ host: 'sentiment-service', subset, port: { number: 8080 } })
    assert.deepEqual(specOf('VirtualService', 'istio')['http'], [
      { match: [{ headers: { 'x-tester': { exact: 'yes' } } }], route: [{ destination: destination('v2') }] },
      {
        match: [{ headers: { cookie: { regex: '(?:.*;)?\\s*tester=a\\.b\\s*(?:;.*)?' } } }],
        route: [{ destination: destination('v1') }],
      },
      {
        route: [{ destination: destination('v1'), weight: 100 }],
        mirror: destination('v2'),
        mirrorPercentage: { value: 25 },
      },
    ])
  })

  test('are matches of headers before the weights, and a filter, in an HTTPRoute', () => {
    assert.deepEqual(specOf('HTTPRoute', 'gateway')['rules'], [
      { matches: [{ headers: [HEADER] }], backendRefs: [{ name: 'm-v2', port: 8080, weight: 1 }] },
      {
        backendRefs: [{ name: 'm-v1', port: 8080, weight: 100 }],
        filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'm-v2', port: 8080 }, percent: 25 } }],
      },
    ])
  })
})
