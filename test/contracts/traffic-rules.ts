/** What every traffic provider does with rules beside the weights: copies, matches and stickiness. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { RouteRules } from '../../src/api/router-report.ts'
import type { RuleKind, TrafficProvider, TrafficTarget } from '../../src/plan/traffic/index.ts'
import { positive, withPods, type World } from './traffic-provider.ts'

const HEADER = { name: 'x-tester', value: 'yes' }
const COOKIE = { name: 'tester', value: 'yes' }

/** A rule of each kind, for a version. */
const ruleOf: Readonly<Record<RuleKind, (version: string) => RouteRules>> = {
  mirror: (version) => ({ mirror: { version, percent: 10 } }),
  headers: (version) => ({ match: [{ version, header: HEADER }] }),
  cookies: (version) => ({ match: [{ version, cookie: COOKIE }] }),
  stickiness: () => ({ stickiness: { header: 'x-user' } }),
}

export function trafficRulesContract(provider: TrafficProvider, world: World, targets: fc.Arbitrary<TrafficTarget>) {
  const seen = withPods(provider)
  const each = (property: (target: TrafficTarget, version: string) => void): void =>
    fc.assert(fc.property(targets, (target) => property(target, target.backends[0]?.version ?? '')))

  describe(`rules of traffic provider ${provider.name}`, () => {
    for (const kind of Object.keys(ruleOf) as RuleKind[]) {
      const applies = provider.rules?.includes(kind) === true
      test(`${kind}: ${applies ? 'changes what it renders' : 'changes nothing'}, and never the weights`, () => {
        each((target, version) => {
          const plain = provider.render(target, seen)
          const ruled = provider.render({ ...target, rules: ruleOf[kind](version) }, seen)
          const isSame = JSON.stringify(plain) === JSON.stringify(ruled)
          assert.equal(isSame, !applies)
          assert.deepEqual(positive(world.asked(ruled, target)), positive(world.asked(plain, target)))
          const effect = provider.inEffect(target, world.settled(ruled, target))
          assert.deepEqual(positive(effect), positive(world.asked(plain, target)))
        })
      })
    }

    test('no rules are the same as none at all', () => {
      each((target) => assert.deepEqual(provider.render({ ...target, rules: {} }, seen), provider.render(target, seen)))
    })
  })
}
