/** Which provider a model gets, and which one it has when no status says so. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Seen, viewOfModel } from '../../../../test/sim/model-view.ts'
import { providers } from '../../traffic/index.ts'
import { chosenProvider, recordedProvider } from './provider-choice.ts'

const one = { v1: { weight: 100, available: 1 } }
const two = { v1: { weight: 60, available: 1 }, v2: { weight: 40, available: 1 } }
const gateways = ['public']

describe('the provider of the spec', () => {
  const table: readonly (readonly [string, Seen, string])[] = [
    ['auto, one version', { versions: one }, 'direct'],
    ['auto, one version behind a gateway', { versions: one, traffic: { gateways } }, 'router'],
    ['auto, one version behind a Gateway', { versions: one, traffic: { gateways }, offers: ['gateway'] }, 'gateway'],
    ['auto, two versions', { versions: two }, 'router'],
    ['auto, two versions, all kinds served', { versions: two, offers: ['istio', 'gateway'] }, 'istio'],
    ['auto, two versions without a gateway', { versions: two, offers: ['gateway'] }, 'router'],
    ['auto never takes pod counts', { versions: two, traffic: { provider: 'auto' } }, 'router'],
    ['replicas', { versions: two, traffic: { provider: 'replicas' } }, 'replicas'],
    [
      'router, although istio is available',
      { versions: two, traffic: { provider: 'router' }, offers: ['istio'] },
      'router',
    ],
    ['istio that is not available', { versions: two, traffic: { provider: 'istio' } }, 'router'],
  ]
  for (const [what, seen, name] of table) {
    test(`${what}: ${name}`, () => {
      const view = viewOfModel(seen)
      assert.equal(chosenProvider(view, view.wantedWeights).provider.name, name)
    })
  }

  test('a model of one version does not switch to direct while another version gets traffic', () => {
    const view = viewOfModel({ versions: one })
    const split = new Map([
      ['v0', 50],
      ['v1', 50],
    ])
    assert.equal(chosenProvider(view, split).provider.name, 'router')
  })

  test('a provider that is not available is reported by the kind that is missing', () => {
    const view = viewOfModel({ versions: two, traffic: { provider: 'istio' } })
    const partly = {
      ...view,
      observed: { ...view.observed, servedKinds: new Set(['virtualservices.networking.istio.io']) },
    }
    const troubleOf = (seen: typeof view) => chosenProvider(seen, seen.wantedWeights).unavailable
    assert.equal(troubleOf(view)?.reason, 'ProviderUnavailable')
    assert.match(troubleOf(view)?.message ?? '', /the kind VirtualService/)
    assert.match(troubleOf(partly)?.message ?? '', /the kind DestinationRule/)
    assert.equal(troubleOf(viewOfModel({ versions: two })), undefined)
  })
})

describe('the provider of a Service that was written before a status', () => {
  const weights = { v1: 60, v2: 40 }
  const table: readonly (readonly [string, Seen, { readonly chosen: string; readonly gives: string }])[] = [
    ['no Service', { versions: two }, { chosen: 'router', gives: 'router' }],
    ['a Service of one version', { versions: two, leadsTo: 'v1' }, { chosen: 'router', gives: 'direct' }],
    ['a Service of router pods', { versions: two, leadsTo: 'router' }, { chosen: 'istio', gives: 'router' }],
    [
      'a Service of all servers, and a VirtualService',
      { versions: two, leadsTo: 'istio', offers: ['istio'], inEffect: { istio: weights } },
      { chosen: 'router', gives: 'istio' },
    ],
    [
      'a Service of all servers, and an HTTPRoute',
      { versions: two, leadsTo: 'gateway', offers: ['gateway'], inEffect: { gateway: weights } },
      { chosen: 'router', gives: 'gateway' },
    ],
    [
      'a Service of router pods, and a VirtualService that is left',
      { versions: two, leadsTo: 'router', offers: ['istio'], inEffect: { istio: weights } },
      { chosen: 'istio', gives: 'router' },
    ],
    ['a Service of all servers', { versions: two, leadsTo: 'replicas' }, { chosen: 'istio', gives: 'istio' }],
    ['a Service of all servers', { versions: two, leadsTo: 'replicas' }, { chosen: 'router', gives: 'direct' }],
  ]
  for (const [what, seen, { chosen, gives }] of table) {
    test(`${what}, when ${chosen} is chosen: ${gives}`, () => {
      const provider = providers.all.find(({ name }) => name === chosen)
      assert.ok(provider)
      assert.deepEqual(recordedProvider(viewOfModel(seen), provider), { provider: gives })
    })
  }

  test('a status is believed', () => {
    const recorded = { provider: 'gateway', previous: 'direct' }
    const view = viewOfModel({ versions: two, leadsTo: 'router', recorded })
    assert.deepEqual(recordedProvider(view, providers.plain), recorded)
  })
})
