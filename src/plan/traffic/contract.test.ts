/** The contract that every provider keeps, on targets and observations at random; what only one of them does stands below. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { KubeObject } from '../../kube/object.ts'
import type { Deployment, Pod } from '../../kube/resources.ts'
import { ROUTE_ANNOTATION, type RouteEntry } from '../../api/router-report.ts'
import { MODEL_UID_LABEL, VERSION_LABEL } from '../model-names.ts'
import { apportion } from './apportion.ts'
import { defaultTrafficConfig } from './config.ts'
import type { ProviderName, Rendered, TrafficObserved, TrafficTarget } from './contract.ts'
import { backendsOf, destinationsOf, type HTTPRoute, type VirtualService } from './kinds.ts'
import { providers } from './providers.ts'
import { splitReplicas } from './replicas.ts'

const NOTHING: TrafficObserved = { routes: [], routerPods: [], reports: new Map() }
const PODS = 100

const targets: fc.Arbitrary<TrafficTarget> = fc
  .uniqueArray(fc.stringMatching(/^v[0-9]{1,3}$/), { minLength: 1, maxLength: 5 })
  .chain((versions) =>
    fc.record({
      raw: fc.array(fc.nat(100), { minLength: versions.length, maxLength: versions.length }),
      exposed: fc.boolean(),
      port: fc.integer({ min: 1, max: 65_535 }),
      versions: fc.constant(versions),
    }),
  )
  .map(({ versions, raw, exposed, port }) => {
    const some = raw.some((weight) => weight > 0) ? raw : raw.map(() => 1)
    const weights = apportion(new Map(versions.map((version, index) => [version, some[index] ?? 0])), 100)
    return {
      name: 'sentiment',
      namespace: 'ml',
      labels: { app: 'sentiment', [MODEL_UID_LABEL]: 'uid-1' },
      port,
      backends: versions.map((version) => ({
        version,
        service: `sentiment-${version}`,
        weight: weights.get(version) ?? 0,
      })),
      config: defaultTrafficConfig,
      ...(exposed && { gateways: ['public'], hostnames: ['sentiment.example.com'] }),
    }
  })

/** What a cluster does with what a provider rendered, and the states on the way there. */
interface World {
  /** The weights that the objects ask for. */
  asked(rendered: Rendered, target: TrafficTarget): ReadonlyMap<string, number>
  settled(rendered: Rendered, target: TrafficTarget): TrafficObserved
  /** Not yet settled, each in another way. */
  underway(rendered: Rendered, target: TrafficTarget): TrafficObserved[]
}

const routerPod = (uid: string, ready = true): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: uid, namespace: 'ml', uid },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
})

const stored = (object: KubeObject, generation = 1): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, generation, uid: object.metadata.name },
})

const kind = ({ apply }: Rendered, name: string): KubeObject | undefined => apply.find((object) => object.kind === name)

/** Somebody took out all that leads anywhere, as their definitions allow, and left this. */
function emptied(observed: TrafficObserved, name: string, left: object): TrafficObserved {
  const without = (object: KubeObject): KubeObject => {
    const { spec } = object as KubeObject & { readonly spec: object }
    return {
      ...object,
      spec: { ...spec, http: undefined, subsets: undefined, rules: undefined, ...left },
    } as KubeObject
  }
  return { ...observed, routes: observed.routes.map((route) => (route.kind === name ? without(route) : route)) }
}

function istio(): World {
  const settled = ({ apply }: Rendered): TrafficObserved => ({
    ...NOTHING,
    routes: apply.map((route) => stored(route)),
  })
  return {
    asked: (rendered) =>
      new Map(
        destinationsOf(kind(rendered, 'VirtualService') as VirtualService).map(
          ({ destination, weight = 0 }) => [destination.subset ?? '', weight] as const,
        ),
      ),
    settled,
    underway: (rendered) => [
      {
        ...NOTHING,
        routes: rendered.apply.filter((route) => route.kind === 'VirtualService').map((route) => stored(route)),
      },
      {
        ...NOTHING,
        routes: rendered.apply.filter((route) => route.kind === 'DestinationRule').map((route) => stored(route)),
      },
      {
        ...NOTHING,
        routes: rendered.apply.map((route) => ({ ...stored(route, 2), status: { observedGeneration: '1' } })),
      },
      emptied(settled(rendered), 'VirtualService', {}),
      emptied(settled(rendered), 'VirtualService', { http: [{}] }),
      emptied(settled(rendered), 'DestinationRule', {}),
    ],
  }
}

function gateway(): World {
  const answered = (
    { apply }: Rendered,
    observedGeneration: number,
    status = 'True',
    types = ['Accepted', 'ResolvedRefs'],
  ) => ({
    ...NOTHING,
    routes: apply.map((object) => {
      const route = object as HTTPRoute
      const conditions = types.map((type) => ({ type, status, observedGeneration }))
      return {
        ...stored(route, 2),
        status: { parents: route.spec.parentRefs?.map((parentRef) => ({ parentRef, conditions })) },
      }
    }),
  })
  return {
    asked: (rendered, { backends }) => {
      const versions = new Map(backends.map(({ service, version }) => [service, version]))
      const backendRefs = backendsOf(kind(rendered, 'HTTPRoute') as HTTPRoute)
      return new Map(backendRefs.map(({ name, weight }) => [versions.get(name) ?? name, weight] as const))
    },
    settled: (rendered) => answered(rendered, 2),
    underway: (rendered) => [
      { ...NOTHING, routes: rendered.apply.map((route) => stored(route)) },
      answered(rendered, 1),
      answered(rendered, 2, 'False'),
      answered(rendered, 2, 'True', ['Accepted']),
      emptied(answered(rendered, 2), 'HTTPRoute', {}),
      emptied(answered(rendered, 2), 'HTTPRoute', { rules: [{}] }),
    ],
  }
}

function router(): World {
  const pods = [routerPod('a'), routerPod('b')]
  const routeIn = ({ annotate }: Rendered): RouteEntry[] =>
    JSON.parse(annotate[0]?.annotations[ROUTE_ANNOTATION] ?? '[]') as RouteEntry[]
  const report = (route: readonly RouteEntry[]) => ({
    startedAt: 0,
    versions: route.map(({ version, weight }) => ({ version, weight, requests: 0, errors: 0, latencyMsSum: 0 })),
  })
  const settled = (rendered: Rendered): TrafficObserved => ({
    routes: [],
    router: stored(kind(rendered, 'Deployment') as Deployment),
    routerPods: pods,
    reports: new Map(pods.map(({ metadata }) => [metadata.uid ?? '', report(routeIn(rendered))])),
  })
  return {
    asked: (rendered) => new Map(routeIn(rendered).map(({ version, weight }) => [version, weight])),
    settled,
    underway: (rendered) => {
      const done = settled(rendered)
      const other = report([{ version: 'before', address: 'x:1', weight: 100 }])
      return [
        { ...done, reports: new Map() },
        { ...done, reports: new Map([...done.reports].slice(1)) },
        { ...done, reports: new Map([...done.reports, ['b', other]]) },
        { ...done, reports: new Map([...done.reports, ['b', report([])]]) },
        {
          ...done,
          reports: new Map([...done.reports, ['b', other]]),
          routerPods: [routerPod('a'), routerPod('b', false)],
        },
        { ...done, routerPods: pods.map(({ metadata }) => routerPod(metadata.name, false)) },
        { ...done, routerPods: [] },
      ]
    },
  }
}

function replicas(): World {
  const numbers = ({ backends }: TrafficTarget) =>
    splitReplicas(new Map(backends.map(({ version, weight }) => [version, weight])), PODS)
  const server = (version: string, count: number, available = count, generation = 1): Deployment => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: version, generation, labels: { [VERSION_LABEL]: version } },
    spec: { replicas: count, selector: {}, template: {} },
    status: { replicas: count, availableReplicas: available, observedGeneration: 1 },
  })
  const servers = (target: TrafficTarget, missing: number, generation: number): TrafficObserved => ({
    ...NOTHING,
    servers: [...numbers(target)].map(([version, count]) =>
      server(version, count, Math.max(0, count - missing), generation),
    ),
  })
  return {
    asked: (_, target) => numbers(target),
    settled: (_, target) => servers(target, 0, 1),
    underway: (_, target) => [servers(target, 1, 1), servers(target, 0, 2), { ...NOTHING, servers: [] }],
  }
}

const worlds: Record<ProviderName, World> = {
  istio: istio(),
  gateway: gateway(),
  router: router(),
  replicas: replicas(),
}
const sum = (weights: Iterable<number>): number => [...weights].reduce((total, weight) => total + weight, 0)
const byName = ([one]: readonly [string, number], [other]: readonly [string, number]): number =>
  one.localeCompare(other)
const positive = (weights: ReadonlyMap<string, number> | undefined) =>
  new Map([...(weights ?? [])].filter(([, weight]) => weight > 0).toSorted(byName))
const wanted = ({ backends }: TrafficTarget) =>
  positive(new Map(backends.map(({ version, weight }) => [version, weight])))
const withPods: TrafficObserved = { ...NOTHING, routerPods: [routerPod('a'), routerPod('b')] }

for (const name of Object.keys(providers) as ProviderName[]) {
  const provider = providers[name]
  const world = worlds[name]
  const each = (property: (target: TrafficTarget, rendered: Rendered) => void): void =>
    fc.assert(fc.property(targets, (target) => property(target, provider.render(target, withPods))))

  describe(`traffic provider ${name}`, () => {
    test('asks for the weights of the target and no others; they sum to 100', () => {
      each((target, rendered) => {
        const asked = world.asked(rendered, target)
        assert.equal(sum(asked.values()), 100)
        assert.ok([...asked.values()].every((weight) => weight >= 0 && weight <= 100))
        if (name !== 'replicas') assert.deepEqual(positive(asked), wanted(target))
        assert.deepEqual([...positive(asked).keys()], [...wanted(target).keys()])
      })
    })

    test('renders the same for the same, in plain JSON', () => {
      each((target, rendered) => {
        assert.deepEqual(provider.render(structuredClone(target), withPods), rendered)
        assert.deepEqual(JSON.parse(JSON.stringify(rendered.apply)), rendered.apply)
      })
    })

    test('objects are beside the model, labelled as its own, and no two of a kind', () => {
      each(({ namespace, labels }, { apply }) => {
        for (const { metadata } of apply) {
          assert.equal(metadata.namespace, namespace)
          assert.deepEqual(metadata.labels, labels)
        }
        assert.equal(new Set(apply.map((object) => object.kind)).size, apply.length)
      })
    })

    test('selects pods of this model only', () => {
      each(({ labels }, { selector, targetPort }) => {
        assert.equal(selector[MODEL_UID_LABEL], labels[MODEL_UID_LABEL])
        assert.ok(targetPort > 0)
      })
    })

    test('knows nothing before it has seen anything', () => {
      each((target) => assert.equal(provider.inEffect(target, NOTHING), undefined))
    })

    test('knows nothing while anything is on its way', () => {
      each((target, rendered) => {
        for (const [index, observed] of world.underway(rendered, target).entries())
          assert.equal(provider.inEffect(target, observed), undefined, `state ${index}`)
      })
    })

    test('once all is settled, what is in effect is what was asked for', () => {
      each((target, rendered) => {
        const weights = provider.inEffect(target, world.settled(rendered, target))
        assert.deepEqual(positive(weights), positive(world.asked(rendered, target)))
      })
    })

    test('what was in effect stays so until the next is seen, whatever is wanted by then', () => {
      fc.assert(
        fc.property(targets, targets, (before, after) => {
          const backends = new Map([...after.backends, ...before.backends].map((backend) => [backend.version, backend]))
          const next = { ...after, backends: [...backends.values()] }
          const observed = world.settled(provider.render(before, withPods), before)
          assert.deepEqual(positive(provider.inEffect(next, observed)), positive(provider.inEffect(before, observed)))
        }),
      )
    })
  })
}

describe('the router', () => {
  const target = (): TrafficTarget => fc.sample(targets, { numRuns: 1, seed: 7 })[0] as TrafficTarget

  test('a new weight changes neither its Deployment nor its configuration: nothing is rolled out', () => {
    const [one, other] = [100, 0].map((weight) => {
      const backends = [
        { version: 'v1', service: 'a', weight },
        { version: 'v2', service: 'b', weight: 100 - weight },
      ]
      return providers.router.render({ ...target(), backends }, withPods)
    })
    assert.ok(one && other)
    assert.deepEqual(kind(one, 'Deployment'), kind(other, 'Deployment'))
    assert.notDeepEqual(one.annotate, other.annotate)
  })

  test('the order of versions changes nothing at all', () => {
    fc.assert(
      fc.property(targets, (model) => {
        const reversed = { ...model, backends: model.backends.toReversed() }
        assert.deepEqual(providers.router.render(reversed, withPods), providers.router.render(model, withPods))
      }),
    )
  })

  test('a pod that is not ready and says nothing is not waited for', () => {
    const model = target()
    const observed = worlds.router.settled(providers.router.render(model, withPods), model)
    const starting = { ...observed, routerPods: [...observed.routerPods, routerPod('c', false)] }
    assert.deepEqual(positive(providers.router.inEffect(model, starting)), wanted(model))
  })

  test('a pod that divides in another way is called again and again; one that says nothing is not', () => {
    const model = target()
    const settled = worlds.router.settled(providers.router.render(model, withPods), model)
    const other = { startedAt: 0, versions: [{ version: 'v0', weight: 100, requests: 0, errors: 0, latencyMsSum: 0 }] }
    const told = (now: number, reports: TrafficObserved['reports']) =>
      providers.router.render(model, { ...settled, now, reports }).annotate.map(({ annotations }) => annotations)
    const deaf = new Map([...settled.reports, ['a', other]])
    const called = (reports: TrafficObserved['reports']) => told(1, reports).map((own) => Object.keys(own).length > 1)
    assert.deepEqual([settled.reports, new Map(), deaf].map(called), [
      [false, false],
      [false, false],
      [true, false],
    ])
    assert.deepEqual(told(1, deaf), told(4_999, deaf))
    assert.notDeepEqual(told(1, deaf), told(5_000, deaf))
  })
})

describe('splitReplicas', () => {
  const table: readonly [Record<string, number>, number, Record<string, number>][] = [
    [{ a: 90, b: 10 }, 10, { a: 9, b: 1 }],
    [{ a: 95, b: 5 }, 10, { a: 9, b: 1 }],
    [{ a: 50, b: 50 }, 3, { a: 2, b: 1 }],
    [{ a: 99, b: 1 }, 1, { a: 1, b: 1 }],
    [{ a: 100, b: 0 }, 3, { a: 3, b: 0 }],
    [{ a: 33, b: 33, c: 34 }, 10, { a: 3, b: 3, c: 4 }],
    [{ a: 60, b: 39, c: 1 }, 3, { a: 1, b: 1, c: 1 }],
  ]
  for (const [weights, total, expected] of table) {
    test(`${JSON.stringify(weights)} of ${total} pods`, () => {
      assert.deepEqual(Object.fromEntries(splitReplicas(new Map(Object.entries(weights)), total)), expected)
    })
  }

  test('never loses a pod, never starves a version that has weight, never keeps one that has none', () => {
    const weights = fc.dictionary(fc.stringMatching(/^v[0-9]$/), fc.nat(100), { minKeys: 1 })
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 200 }), (given, total) => {
        const split = splitReplicas(new Map(Object.entries(given)), total)
        const served = Object.values(given).filter((weight) => weight > 0).length
        assert.equal(sum(split.values()), served === 0 ? 0 : Math.max(total, served))
        for (const [version, weight] of Object.entries(given)) assert.equal((split.get(version) ?? 0) > 0, weight > 0)
      }),
    )
  })
})
