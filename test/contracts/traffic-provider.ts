/** The contract that every traffic provider keeps, on random targets and observations. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { nameWithKind } from '../../src/kube/object.ts'
import type { Deployment, Pod, Service } from '../../src/kube/resources.ts'
import { HTTP_PORT_NAME, MODEL_UID_LABEL } from '../../src/plan/model-names.ts'
import {
  apportion,
  defaultTrafficConfig,
  type ProviderRegistry,
  type Rendered,
  type Situation,
  type TrafficObserved,
  type TrafficProvider,
  type TrafficTarget,
  type Weights,
} from '../../src/plan/traffic/index.ts'

/** What a cluster does with what a provider rendered, and the states on the way there. */
export interface World {
  /** Targets that the provider can bring about; any if absent. */
  readonly targets?: fc.Arbitrary<TrafficTarget>
  /** What is in effect before anything was observed. Undefined: unknown. */
  readonly unseen?: Weights
  /** The weights that the objects ask for. */
  asked(rendered: Rendered, target: TrafficTarget): Weights
  settled(rendered: Rendered, target: TrafficTarget): TrafficObserved
  /** Not yet settled, each in another way. */
  converging(rendered: Rendered, target: TrafficTarget): TrafficObserved[]
}

export const NOTHING: TrafficObserved = {
  routes: [],
  proxies: [],
  reports: new Map(),
  servers: [],
  available: new Map(),
  now: 0,
}

/** Kinds that a provider may render without declaring them: every model has them. */
const COMMON_KINDS = ['Deployment', 'ConfigMap', 'PodDisruptionBudget']

const versionNames = fc.uniqueArray(fc.stringMatching(/^v[0-9]{1,3}$/), { minLength: 1, maxLength: 5 })
const weighted = (versions: readonly string[]) =>
  fc
    .array(fc.nat(100), { minLength: versions.length, maxLength: versions.length })
    .map((raw) => (raw.some((weight) => weight > 0) ? raw : raw.map(() => 1)))
    .map((raw) => apportion(new Map(versions.map((version, index) => [version, raw[index] ?? 0])), 100))
const allToOne = (versions: readonly string[]) =>
  fc.constantFrom(...versions).map((sole) => new Map(versions.map((version) => [version, version === sole ? 100 : 0])))

const targetsOf = (weightsOf: (versions: readonly string[]) => fc.Arbitrary<Weights>): fc.Arbitrary<TrafficTarget> =>
  versionNames
    .chain((versions) =>
      fc.record({ weights: weightsOf(versions), exposed: fc.boolean(), port: fc.integer({ min: 1, max: 65_535 }) }),
    )
    .map(({ weights, exposed, port }) => ({
      name: 'sentiment',
      namespace: 'ml',
      labels: { app: 'sentiment', [MODEL_UID_LABEL]: 'uid-1' },
      port,
      backends: [...weights].map(([version, weight]) => ({ version, service: `sentiment-${version}`, weight })),
      primary: [...weights].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? '',
      wanted: weights,
      recorded: new Map([['before', 100]]),
      config: defaultTrafficConfig,
      ...(exposed && { gateways: ['public'], hostnames: ['sentiment.example.com'] }),
    }))

export const anyTargets = targetsOf(weighted)
/** One version gets everything. */
export const soleTargets = targetsOf(allToOne)

export const proxyPod = (uid: string, ready = true): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'ml', uid },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

export const serviceWith = ({ selector }: Rendered): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'sentiment-service', namespace: 'ml' },
  spec: { selector: { ...selector } },
})

const sum = (weights: Iterable<number>): number => [...weights].reduce((total, weight) => total + weight, 0)
const byName = ([one]: readonly [string, number], [other]: readonly [string, number]): number =>
  one.localeCompare(other)

/** Without versions that get nothing, in order. */
export const positive = (weights: Weights | undefined): Weights =>
  new Map([...(weights ?? [])].filter(([, weight]) => weight > 0).toSorted(byName))
export const wanted = (target: TrafficTarget): Weights => positive(target.wanted)

/** With two pods of the provider's proxy, if it has one. */
export function withPods(provider: TrafficProvider, model = 'sentiment'): TrafficObserved {
  const name = provider.proxyName?.({ metadata: { name: model } })
  if (name === undefined) return NOTHING
  const deployment: Deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } }
  return { ...NOTHING, proxies: [{ deployment, pods: [proxyPod('a'), proxyPod('b')] }] }
}

const situation = (provider: TrafficProvider, target: TrafficTarget, observed: TrafficObserved): Situation => ({
  target,
  observed,
  inEffect: provider.inEffect(target, observed),
})

export function trafficProviderContract(provider: TrafficProvider, world: World, registry: ProviderRegistry): void {
  const targets = world.targets ?? anyTargets
  const seen = withPods(provider)
  const each = (property: (target: TrafficTarget, rendered: Rendered) => void): void =>
    fc.assert(fc.property(targets, (target) => property(target, provider.render(target, seen))))

  describe(`traffic provider ${provider.name}`, () => {
    describe('renders', () => rendering(provider, world, each))
    describe('observes', () => observing(provider, world, { each, targets }))
    describe('decides', () => deciding(provider, world, { each, registry }))
  })
}

type Each = (property: (target: TrafficTarget, rendered: Rendered) => void) => void

function rendering(provider: TrafficProvider, world: World, each: Each): void {
  test('asks for the weights of the target and no others; they sum to 100', () => {
    each((target, rendered) => {
      const asked = world.asked(rendered, target)
      assert.equal(sum(asked.values()), 100)
      assert.ok([...asked.values()].every((weight) => weight >= 0 && weight <= 100))
      if (!provider.splitPods) assert.deepEqual(positive(asked), wanted(target))
      assert.deepEqual([...positive(asked).keys()], [...wanted(target).keys()])
    })
  })

  test('the same for the same, in plain JSON', () => {
    each((target, rendered) => {
      assert.deepEqual(provider.render(structuredClone(target), withPods(provider)), rendered)
      assert.deepEqual(JSON.parse(JSON.stringify(rendered.apply)), rendered.apply)
    })
  })

  test('objects beside the model, labelled as its own, and no two of a name', () => {
    each(({ namespace, labels }, { apply }) => {
      for (const { metadata } of apply) {
        assert.equal(metadata.namespace, namespace)
        assert.deepEqual(metadata.labels, labels)
      }
      assert.equal(new Set(apply.map(nameWithKind)).size, apply.length)
    })
  })

  test('only kinds that it declares, with a reason for RBAC', () => {
    const declared = provider.kinds.map(({ resource }) => resource.kind)
    each((_, { apply }) => {
      for (const { kind } of apply) assert.ok([...declared, ...COMMON_KINDS].includes(kind), kind)
    })
    assert.equal(provider.permission !== undefined, declared.length > 0)
  })

  test('selects pods of this model only', () => {
    each(({ labels }, { selector }) => assert.equal(selector[MODEL_UID_LABEL], labels[MODEL_UID_LABEL]))
  })

  test('its proxy, if it has one, with pods that the Service selects and a port that it finds', () => {
    each((target, { apply, selector }) => {
      const name = provider.proxyName?.({ metadata: { name: target.name } })
      const proxy: Deployment | undefined = apply.find(
        (object) => object.kind === 'Deployment' && object.metadata.name === name,
      )
      assert.equal(proxy !== undefined, name !== undefined)
      if (!proxy) return
      const { metadata, spec } = proxy.spec?.template ?? {}
      for (const [label, value] of Object.entries(selector)) assert.equal(metadata?.labels?.[label], value)
      assert.ok(spec?.containers.some(({ ports }) => ports?.some((port) => port.name === HTTP_PORT_NAME)))
    })
  })
}

interface Observing {
  readonly each: Each
  readonly targets: fc.Arbitrary<TrafficTarget>
}

function observing(provider: TrafficProvider, world: World, { each, targets }: Observing): void {
  test('nothing in effect before anything was observed', () => {
    each((target) => assert.deepEqual(provider.inEffect(target, NOTHING), world.unseen))
  })

  test('what is in effect is unknown while anything converges', () => {
    each((target, rendered) => {
      for (const [index, observed] of world.converging(rendered, target).entries())
        assert.equal(provider.inEffect(target, observed), undefined, `state ${index}`)
    })
  })

  test('once all is settled, what is in effect is what was asked for', () => {
    each((target, rendered) => {
      const weights = provider.inEffect(target, world.settled(rendered, target))
      assert.deepEqual(positive(weights), positive(world.asked(rendered, target)))
    })
  })

  test('what was in effect stays so until the next is observed, whatever is wanted by then', () => {
    fc.assert(
      fc.property(targets, targets, (before, after) => {
        const backends = new Map([...after.backends, ...before.backends].map((backend) => [backend.version, backend]))
        const next = { ...after, backends: [...backends.values()] }
        const observed = world.settled(provider.render(before, withPods(provider)), before)
        assert.deepEqual(positive(provider.inEffect(next, observed)), positive(provider.inEffect(before, observed)))
      }),
    )
  })
}

interface Deciding {
  readonly each: Each
  readonly registry: ProviderRegistry
}

function deciding(provider: TrafficProvider, world: World, { each, registry }: Deciding): void {
  test('can take over, carry traffic and rest once all is settled', () => {
    each((target, rendered) => {
      const settled = situation(provider, target, world.settled(rendered, target))
      assert.ok(provider.canTakeOver(target.wanted, settled))
      assert.ok(provider.canCarry(target.wanted, settled))
      assert.ok(provider.isSettled(target.wanted, settled))
      assert.ok(provider.isRunning(settled))
    })
  })

  test('cannot take over while anything converges', () => {
    each((target, rendered) => {
      for (const [index, observed] of world.converging(rendered, target).entries())
        assert.ok(!provider.canTakeOver(target.wanted, situation(provider, target, observed)), `state ${index}`)
    })
  })

  test('reports what was asked for, and what is on record while no version is ready', () => {
    each((target, rendered) => {
      const settled = situation(provider, target, world.settled(rendered, target))
      assert.deepEqual(positive(provider.reported(target.wanted, settled)), positive(world.asked(rendered, target)))
      assert.deepEqual(provider.reported(undefined, situation(provider, target, NOTHING)), target.recorded)
    })
  })

  test('is the only one that recognises its Service and routes', () => {
    each((target, rendered) => {
      const { routes } = world.settled(rendered, target)
      const found = registry.all.filter((one) => one.recognises({ selector: rendered.selector, routes }))
      assert.ok(found.every((one) => one === provider))
      if (rendered.apply.length > 0) assert.deepEqual(found, [provider])
    })
  })
}
