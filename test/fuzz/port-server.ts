/** All our ports in one process, which reports them and the longest turn of its event loop by IPC. */
import { Addresses } from '../../src/agent/router/addresses.ts'
import { servePages } from '../../src/agent/router/pages.ts'
import { Router } from '../../src/agent/router/router.ts'
import { TrafficCounters } from '../../src/agent/router/traffic-counters.ts'
import { createCa, issue } from '../../src/kube/x509.ts'
import { FakeClock } from '../../src/runtime/fake-clock.ts'
import { Health } from '../../src/runtime/health.ts'
import { RuntimeMetrics } from '../../src/runtime/metrics.ts'
import { serve } from '../../src/runtime/server.ts'
import { startConversionServer } from '../../src/webhooks/conversion-server.ts'
import { FakeEnvoy } from '../fakes/envoy.ts'

export interface Ports {
  readonly conversion: number
  readonly operator: number
  readonly router: number
}

const TICK_MS = 5

async function startPorts(): Promise<Ports> {
  const host = '127.0.0.1'
  const notAfter = new Date(Date.now() + 86_400_000)
  const ca = createCa({ commonName: 'fuzz', notAfter })
  const conversion = await startConversionServer({ port: 0, host })
  conversion.useCertificate(issue(ca, { commonName: 'fuzz', dnsNames: ['localhost'], usages: ['server'], notAfter }))
  const envoy = new FakeEnvoy()
  const router = new Router({
    ask: envoy.ask,
    write: envoy.write,
    addresses: new Addresses({ lookup: () => Promise.resolve('10.0.0.1'), now: () => 0 }),
    counters: new TrafficCounters(),
    readRoutes: () => Promise.resolve(['[{"version":"v1","address":"10.0.0.1:80","weight":100}]']),
    startedAt: 0,
    now: () => 0,
    log: () => undefined,
  })
  await router.sync()
  const metrics = new RuntimeMetrics(new FakeClock())
  return {
    conversion: conversion.port,
    operator: (await serve({ port: 0, host, health: new Health(), metrics })).port,
    router: (await servePages(0, router)).port,
  }
}

/** CPU time between two ticks of a timer. Much more than a tick means one long turn of the event loop. */
function watchTurns(): () => number {
  let longest = 0
  let before = process.threadCpuUsage()
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    longest = Math.max(longest, (user + system) / 1_000)
    before = process.threadCpuUsage()
  }
  setInterval(look, TICK_MS)
  return () => {
    look()
    const found = longest
    longest = 0
    return found
  }
}

const ports = await startPorts()
const longestTurn = watchTurns()
process.on('message', () => process.send?.({ longestTurnMs: longestTurn() }))
process.on('disconnect', () => process.exit(0))
process.send?.({ ports })
