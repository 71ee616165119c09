/** The router's agent without a HAProxy: what it reads, what it orders, what it counts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { Addresses } from './addresses.ts'
import { metricsPage } from './metrics-page.ts'
import { parseRequestLine } from './request-line.ts'
import { parseRoute } from './route.ts'
import { Router } from './router.ts'
import { divisionOf, parseServers, type Server } from './servers.ts'
import { type Destination, ordersToward } from './steering.ts'
import { TrafficCounters } from './traffic-counters.ts'

const route = (entries: readonly (readonly [string, string, number])[]): string =>
  JSON.stringify(entries.map(([version, address, weight]) => ({ version, address, weight })))

describe('a route', () => {
  test('is read as it is written; an empty file is none', () => {
    const entries = [
      { version: 'v1', address: 'sentiment-v1:8080', weight: 90 },
      { version: 'v2', address: '10.0.0.2:80', weight: 10 },
    ]
    assert.deepEqual(parseRoute(JSON.stringify(entries)), entries)
    assert.equal(parseRoute(' \n'), undefined)
  })

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', 'v1=100', /written in JSON/],
    ['no list', '{}', /a list of 1 to 100/],
    ['nothing in it', '[]', /a list of 1 to 100/],
    ['a sum of 99', route([['v1', 'a:1', 99]]), /sum to 99/],
    [
      'a weight that is no whole number',
      route([
        ['v1', 'a:1', 99.5],
        ['v2', 'a:1', 0.5],
      ]),
      /weight is a whole number/,
    ],
    [
      'a version twice',
      route([
        ['v1', 'a:1', 50],
        ['v1', 'a:1', 50],
      ]),
      /more than once/,
    ],
    ['an order in the name', route([['v1; shutdown', 'a:1', 100]]), /a name of letters/],
    ['an order in the address', route([['v1', 'a:1 disabled', 100]]), /host:port/],
    ['a line break', route([['v1\nshow info', 'a:1', 100]]), /a name of letters/],
    ['no port', route([['v1', 'a', 100]]), /host:port/],
    ['no entry', '[null]', /a name of letters/],
  ]
  for (const [what, text, reason] of refused) {
    test(`is refused with ${what}`, () => assert.throws(() => parseRoute(text), reason))
  }
})

const STATE = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_fqdn srv_port
3 versions 1 v1 10.0.0.1 2 0 90 0 - 8080
3 versions 2 v2 10.0.0.2 2 0 10 0 - 8080
3 versions 3 v3 10.0.0.3 0 1 50 0 - 8080
3 versions 4 -nobody 127.0.0.1 2 0 1 1 - 1
`

describe('the servers of HAProxy', () => {
  test('are read by the names of the columns', () => {
    const servers = parseServers(STATE)
    assert.deepEqual(servers[0], { name: 'v1', ip: '10.0.0.1', port: 8080, weight: 90, enabled: true })
    assert.equal(servers[2]?.enabled, false)
    assert.equal(servers.length, 3)
    assert.deepEqual(
      [...divisionOf(servers)],
      [
        ['v1', 90],
        ['v2', 10],
      ],
    )
  })

  test('an answer without a table is an error, not an empty backend', () => {
    assert.throws(() => parseServers("Can't find backend."), /shows no servers/)
  })
})

/** What HAProxy does with our orders, as far as they go. Answers whether somebody had weight all the time. */
class FakeHaproxy {
  servers: Server[]
  neverIdle = true

  constructor(servers: readonly Server[]) {
    this.servers = [...servers]
  }

  order(command: string): void {
    const [verb = '', , path = '', ...rest] = command.split(' ')
    const name = path.split('/')[1] ?? ''
    const [first = '', second = '', third = '', fourth] = rest
    const [ip = '', port] = first.split(':')
    const change = (fields: Partial<Server>): Server[] =>
      this.servers.map((server) => (server.name === name ? { ...server, ...fields } : server))
    const carryOut: Record<string, () => Server[]> = {
      add: () => [...this.servers, { name, ip, port: Number(port), weight: Number(third), enabled: false }],
      enable: () => change({ enabled: true }),
      disable: () => change({ enabled: false }),
      del: () => this.servers.filter((server) => server.name !== name),
      set: () => change(first === 'weight' ? { weight: Number(second) } : { ip: second, port: Number(fourth) }),
    }
    this.servers = carryOut[verb]?.() ?? this.servers
    this.neverIdle &&= this.servers.some(({ enabled, weight }) => enabled && weight > 0)
  }
}

const names = fc.constantFrom('v1', 'v2', 'v3', 'v4')
const ips = fc.constantFrom('10.0.0.1', '10.0.0.2')
const destinations: fc.Arbitrary<Destination[]> = fc
  .uniqueArray(fc.record({ version: names, ip: ips, port: fc.constant(80), weight: fc.nat(100) }), {
    selector: ({ version }) => version,
    minLength: 1,
  })
  .filter((list) => list.some(({ weight }) => weight > 0))
const serverLists: fc.Arbitrary<Server[]> = fc.uniqueArray(
  fc.record({ name: names, ip: ips, port: fc.constantFrom(80, 81), weight: fc.nat(256), enabled: fc.boolean() }),
  { selector: ({ name }) => name },
)

describe('orders', () => {
  test('lead from anywhere to the route, and then there are none', () => {
    fc.assert(
      fc.property(destinations, serverLists, (wanted, found) => {
        const haproxy = new FakeHaproxy(found)
        const { divide, tidy } = ordersToward(wanted, found)
        for (const command of [...divide, ...tidy]) haproxy.order(command)
        const byName = new Map(haproxy.servers.map((server) => [server.name, server]))
        assert.equal(byName.size, wanted.length)
        for (const { version, ip, port, weight } of wanted)
          assert.deepEqual(byName.get(version), { name: version, ip, port, weight, enabled: true })
        assert.deepEqual(ordersToward(wanted, haproxy.servers), { divide: [], tidy: [] })
      }),
    )
  })

  test('never leave a moment in which nobody gets requests', () => {
    fc.assert(
      fc.property(destinations, serverLists, (wanted, found) => {
        const haproxy = new FakeHaproxy(found)
        fc.pre(found.some(({ enabled, weight }) => enabled && weight > 0))
        const { divide, tidy } = ordersToward(wanted, found)
        for (const command of [...divide, ...tidy]) haproxy.order(command)
        assert.ok(haproxy.neverIdle)
      }),
    )
  })
})

describe('an address', () => {
  test('is asked for again now and then, and nobody waits for it', async () => {
    let now = 0
    const answers = [Promise.resolve('10.0.0.1'), new Promise<string>(() => undefined), Promise.resolve('10.0.0.2')]
    let asked = 0
    const lookup = (): Promise<string> => answers[asked++] ?? Promise.reject(new Error('ENOTFOUND'))
    const addresses = new Addresses({ lookup, now: () => now })
    const ip = async () => (await addresses.resolve([{ version: 'v1', address: 'a:80', weight: 100 }]))[0]?.ip
    const seen = []
    for (now of [0, 9_000, 10_000, 19_000, 20_000, 29_000, 30_000, 40_000]) seen.push([now, asked, await ip()])
    assert.deepEqual(seen, [
      [0, 0, '10.0.0.1'],
      [9_000, 1, '10.0.0.1'],
      [10_000, 1, '10.0.0.1'],
      [19_000, 2, '10.0.0.1'],
      [20_000, 2, '10.0.0.1'],
      [29_000, 3, '10.0.0.2'],
      [30_000, 3, '10.0.0.2'],
      [40_000, 4, '10.0.0.2'],
    ])
  })
})

describe('a request that has ended', () => {
  const lines: readonly (readonly [string, object | undefined])[] = [
    ['v1 200 12 --', { version: 'v1', failed: false, latencyMs: 12 }],
    ['v1 404 1 --', { version: 'v1', failed: false, latencyMs: 1 }],
    ['v1 500 3 --', { version: 'v1', failed: true, latencyMs: 3 }],
    ['v2 503 1000 SC', { version: 'v2', failed: true, latencyMs: 1000 }],
    ['v2 -1 40 SD', { version: 'v2', failed: true, latencyMs: 40 }],
    ['v2 -1 40 CD', { version: 'v2', failed: false, latencyMs: 40 }],
    ['<NOSRV> 503 0 SC', undefined],
    ['-nobody 503 5000 SC', undefined],
    ['anything else', undefined],
  ]
  for (const [line, expected] of lines) {
    test(line, () => assert.deepEqual(parseRequestLine(line), expected))
  }
})

describe('what is counted', () => {
  const counted = (): TrafficCounters => {
    const counters = new TrafficCounters()
    for (let ms = 1; ms <= 100; ms += 1) counters.note({ version: 'v1', failed: ms > 95, latencyMs: ms })
    return counters
  }

  test('sums, failures and quantiles', () => {
    assert.deepEqual(counted().of('v1'), {
      requests: 100,
      errors: 5,
      latencyMsSum: 5050,
      latencyMsP50: 50,
      latencyMsP99: 99,
    })
    assert.deepEqual(counted().of('v2'), { requests: 0, errors: 0, latencyMsSum: 0 })
  })

  test('quantiles are of the latest thousand; memory has an end', () => {
    const counters = counted()
    for (let index = 0; index < 2_000; index += 1) counters.note({ version: 'v1', failed: false, latencyMs: 7 })
    const { requests, latencyMsP50, latencyMsP99 } = counters.of('v1')
    assert.deepEqual([requests, latencyMsP50, latencyMsP99], [2_100, 7, 7])
    counters.keepOnly(new Set(['v2']))
    assert.equal(counters.of('v1').requests, 0)
  })

  test('is told to Prometheus', () => {
    const page = metricsPage({ startedAt: 0, versions: [{ version: 'v1', weight: 90, ...counted().of('v1') }] })
    assert.match(page, /^model_router_requests_total\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_errors_total\{version="v1"\} 5$/m)
    assert.match(page, /^model_router_request_duration_seconds\{version="v1",quantile="0.99"\} 0.099$/m)
    assert.match(page, /^model_router_request_duration_seconds_count\{version="v1"\} 100$/m)
    assert.match(page, /^model_router_weight_percent\{version="v1"\} 90$/m)
  })
})

describe('the agent', () => {
  const stage = (texts: string[], lookup = async (host: string) => (host === 'a' ? '10.0.0.1' : '10.0.0.2')) => {
    const haproxy = new FakeHaproxy([])
    const said: string[] = []
    let reachable = true
    const table = (): string =>
      ['1', '# srv_name srv_addr srv_port srv_uweight srv_admin_state']
        .concat(
          haproxy.servers.map(
            ({ name, ip, port, weight, enabled }) => `${name} ${ip} ${port} ${weight} ${enabled ? 0 : 1}`,
          ),
        )
        .join('\n')
    const orders: string[] = []
    const router = new Router({
      order: async (command) => {
        if (!reachable) throw new Error('ENOENT')
        if (command.startsWith('show')) return table()
        orders.push(command)
        haproxy.order(command)
        return ''
      },
      addresses: new Addresses({ lookup, now: () => 0 }),
      counters: new TrafficCounters(),
      readRoutes: async () => texts,
      startedAt: 1,
      log: (message) => void said.push(message),
    })
    return {
      router,
      haproxy,
      said,
      orders,
      vanish: () => void (reachable = false),
      lose: () => void (haproxy.servers = []),
    }
  }
  const division = (router: Router) => router.report().versions.map(({ version, weight }) => [version, weight])

  test('is ready once the route is in effect, and then orders nothing more', async () => {
    const { router, orders } = stage([
      route([
        ['v1', 'a:80', 90],
        ['v2', 'b:80', 10],
      ]),
    ])
    assert.equal(router.isReady, false)
    await router.sync()
    assert.equal(router.isReady, true)
    assert.deepEqual(division(router), [
      ['v1', 90],
      ['v2', 10],
    ])
    const before = orders.length
    await router.sync()
    assert.equal(orders.length, before)
  })

  test('begins with the initial route, and leaves it for the annotation', async () => {
    const texts = ['', route([['v1', 'a:80', 100]])]
    const { router } = stage(texts)
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    texts[0] = route([['v2', 'b:80', 100]])
    await router.sync()
    assert.deepEqual(division(router), [['v2', 100]])
  })

  test('what is no route, or leads nowhere, changes nothing and is said once', async () => {
    const texts = [route([['v1', 'a:80', 100]])]
    const { router, said } = stage(texts, async (host) => {
      if (host === 'nowhere') throw new Error('ENOTFOUND')
      return '10.0.0.1'
    })
    await router.sync()
    for (const bad of ['{', route([['v2', 'nowhere:80', 100]])]) {
      texts[0] = bad
      await router.sync()
      await router.sync()
      assert.deepEqual(division(router), [['v1', 100]])
      assert.equal(router.isReady, true)
    }
    assert.equal(said.length, 3)
    assert.match(said[2] ?? '', /nowhere has no address yet/)
  })

  test('a version without traffic need not be there yet', async () => {
    const { router } = stage(
      [
        route([
          ['v1', 'a:80', 100],
          ['v2', 'nowhere:80', 0],
        ]),
      ],
      async (host) => {
        if (host === 'nowhere') throw new Error('ENOTFOUND')
        return '10.0.0.1'
      },
    )
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
  })

  test('a HAProxy that is gone makes it unready; one that comes back empty gets everything again', async () => {
    const { router, lose } = stage([route([['v1', 'a:80', 100]])])
    await router.sync()
    lose()
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    const gone = stage([route([['v1', 'a:80', 100]])])
    await gone.router.sync()
    gone.vanish()
    await gone.router.sync()
    assert.equal(gone.router.isReady, false)
    assert.deepEqual(division(gone.router), [])
  })
})
