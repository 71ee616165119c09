/** The router with a simulated HAProxy. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { Addresses } from './addresses.ts'
import { Router } from './router.ts'
import { type Server, SHOW_STATISTICS } from './servers.ts'
import { type Destination, commandsToward } from './steering.ts'
import { TrafficCounters } from './traffic-counters.ts'

const route = (entries: readonly (readonly [string, string, number])[]): string =>
  JSON.stringify(entries.map(([version, address, weight]) => ({ version, address, weight })))

/** Simulates the commands that the router uses. `neverIdle`: a server had weight all the time. */
class FakeHaproxy {
  servers: Server[]
  neverIdle = true

  constructor(servers: readonly Server[]) {
    this.servers = [...servers]
  }

  run(command: string): void {
    const [verb = '', , path = '', ...rest] = command.split(' ')
    const name = path.split('/')[1] ?? ''
    const [first = '', second = '', third = '', fourth] = rest
    const [ip = '', port] = first.split(':')
    const change = (fields: Partial<Server>): Server[] =>
      this.servers.map((server) => (server.name === name ? { ...server, ...fields } : server))
    const commands: Record<string, () => Server[]> = {
      add: () => [...this.servers, { name, ip, port: Number(port), weight: Number(third), enabled: false }],
      enable: () => change({ enabled: true }),
      disable: () => change({ enabled: false }),
      // HAProxy rejects the deletion of a server in use.
      del: () => this.servers.filter((server) => server.name !== name || server.enabled),
      set: () => change(first === 'weight' ? { weight: Number(second) } : { ip: second, port: Number(fourth) }),
    }
    this.servers = commands[verb]?.() ?? this.servers
    this.neverIdle &&= this.servers.some(({ enabled, weight }) => enabled && weight > 0)
  }
}

const names = fc.constantFrom('v1', 'v2', 'v3', 'v4')
const ips = fc.constantFrom('10.0.0.1', '10.0.0.2')
/** Mostly 0 or 100: with these, all weight may be lost for a moment. */
const percents = fc.oneof(fc.constantFrom(0, 100), fc.nat(100))
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(fields, { noNullPrototype: true })
const destinations: fc.Arbitrary<Destination[]> = fc
  .uniqueArray(record({ version: names, ip: ips, port: fc.constant(80), weight: percents }), {
    selector: ({ version }) => version,
    minLength: 1,
  })
  .filter((list) => list.some(({ weight }) => weight > 0))
const serverLists: fc.Arbitrary<Server[]> = fc.uniqueArray(
  record({ name: names, ip: ips, port: fc.constantFrom(80, 81), weight: percents, enabled: fc.boolean() }),
  { selector: ({ name }) => name },
)

describe('commands', () => {
  test('lead from any state to the route, and then there are none', () => {
    fc.assert(
      fc.property(destinations, serverLists, (wanted, found) => {
        const haproxy = new FakeHaproxy(found)
        const { divide, tidy } = commandsToward(wanted, found)
        for (const command of [...divide, ...tidy]) haproxy.run(command)
        const byName = new Map(haproxy.servers.map((server) => [server.name, server]))
        assert.equal(byName.size, wanted.length)
        for (const { version, ip, port, weight } of wanted)
          assert.deepEqual(byName.get(version), { name: version, ip, port, weight, enabled: true })
        assert.deepEqual(commandsToward(wanted, haproxy.servers), { divide: [], tidy: [] })
      }),
    )
  })

  test('raise one weight before they lower the other', () => {
    const at = (name: string, weight: number): Server => ({ name, ip: '10.0.0.1', port: 80, weight, enabled: true })
    const to = (version: string, weight: number): Destination => ({ version, ip: '10.0.0.1', port: 80, weight })
    for (const wanted of [
      [to('v1', 0), to('v2', 100)],
      [to('v2', 100), to('v1', 0)],
    ]) {
      const haproxy = new FakeHaproxy([at('v1', 100), at('v2', 0)])
      for (const command of commandsToward(wanted, haproxy.servers).divide) haproxy.run(command)
      assert.ok(haproxy.neverIdle)
    }
  })

  test('always leave a server that gets requests', () => {
    fc.assert(
      fc.property(destinations, serverLists, (wanted, found) => {
        const haproxy = new FakeHaproxy(found)
        fc.pre(found.some(({ enabled, weight }) => enabled && weight > 0))
        const { divide, tidy } = commandsToward(wanted, found)
        for (const command of [...divide, ...tidy]) haproxy.run(command)
        assert.ok(haproxy.neverIdle)
      }),
    )
  })
})

describe('the router', () => {
  const setUp = (texts: string[], lookup = async (host: string) => (host === 'a' ? '10.0.0.1' : '10.0.0.2')) => {
    const haproxy = new FakeHaproxy([])
    const logged: string[] = []
    let reachable = true
    const table = (): string =>
      ['1', '# srv_name srv_addr srv_port srv_uweight srv_admin_state']
        .concat(
          haproxy.servers.map(
            ({ name, ip, port, weight, enabled }) => `${name} ${ip} ${port} ${weight} ${enabled ? 0 : 1}`,
          ),
        )
        .join('\n')
    const commands: string[] = []
    const router = new Router({
      run: async (command) => {
        if (!reachable) throw new Error('ENOENT')
        if (command === SHOW_STATISTICS) return '# pxname,svname,wretr,wredis,\n'
        if (command.startsWith('show')) return table()
        commands.push(command)
        haproxy.run(command)
        return ''
      },
      addresses: new Addresses({ lookup, now: () => 0 }),
      counters: new TrafficCounters(),
      readRoutes: async () => texts,
      startedAt: 1,
      log: (message) => void logged.push(message),
    })
    return {
      router,
      haproxy,
      logged,
      commands,
      vanish: () => void (reachable = false),
      lose: () => void (haproxy.servers = []),
    }
  }
  const division = (router: Router) => router.report().versions.map(({ version, weight }) => [version, weight])

  test('is ready once the route is in effect, and then sends no more commands', async () => {
    const { router, commands } = setUp([
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
    const before = commands.length
    await router.sync()
    assert.equal(commands.length, before)
  })

  test('is not ready without a route, or while no version has weight', async () => {
    const { router, haproxy } = setUp([''])
    await router.sync()
    assert.deepEqual([router.isReachable, router.isReady], [true, false])
    haproxy.servers = [{ name: 'v1', ip: '10.0.0.1', port: 80, weight: 0, enabled: true }]
    await router.sync()
    assert.equal(router.isReady, false)
  })

  test('starts with the initial route, and switches to the annotation', async () => {
    const texts = ['', route([['v1', 'a:80', 100]])]
    const { router } = setUp(texts)
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    texts[0] = route([['v2', 'b:80', 100]])
    await router.sync()
    assert.deepEqual(division(router), [['v2', 100]])
  })

  test('an invalid route, or one without an address, changes nothing and is logged once', async () => {
    const texts = [route([['v1', 'a:80', 100]])]
    const { router, logged } = setUp(texts, async (host) => {
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
    assert.equal(logged.length, 3)
    assert.match(logged[2] ?? '', /nowhere has no address yet/)
  })

  test('a version without traffic may have no address yet', async () => {
    const { router } = setUp(
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

  test('is not ready without HAProxy, and configures it again after a restart', async () => {
    const { router, lose } = setUp([route([['v1', 'a:80', 100]])])
    await router.sync()
    lose()
    await router.sync()
    assert.deepEqual(division(router), [['v1', 100]])
    const gone = setUp([route([['v1', 'a:80', 100]])])
    await gone.router.sync()
    gone.vanish()
    await gone.router.sync()
    assert.equal(gone.router.isReady, false)
    assert.deepEqual(division(gone.router), [])
  })
})
