/** The operator's own counters of API calls, without events and watches. */
import { setTimeout as delay } from 'node:timers/promises'
import type { OperatorProcess } from '../../test/operator/operator-process.ts'
import { until } from '../../test/timing/until.ts'
import { PATIENCE_MS } from './load.ts'

export interface Calls {
  readonly writes: number
  readonly reads: number
  readonly passes: number
  /** Writes, by verb and kind. */
  readonly byKind: ReadonlyMap<string, number>
}

export async function callsOf({ url }: OperatorProcess): Promise<Calls> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = [...text.matchAll(/^(\w+)\{(.*)\} (\d+)$/gm)].map(([, name, labels = '', value]) => {
    const [, verb = '', kind = ''] = /verb="(\w+)",kind="(\w+)"/.exec(labels) ?? []
    return { name, verb, kind, value: Number(value) }
  })
  const calls = samples.filter(({ name, kind }) => name === 'ml_operator_kube_requests_total' && kind !== 'Event')
  const writes = calls.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
  const byKind = Map.groupBy(writes, ({ verb, kind }) => `${verb} ${kind}`)
  return {
    writes: sum(writes),
    reads: sum(calls.filter(({ verb }) => verb === 'get' || verb === 'list')),
    passes: sum(samples.filter(({ name }) => name === 'ml_operator_reconcile_duration_seconds_count')),
    byKind: new Map([...byKind].map(([what, group]) => [what, sum(group)])),
  }
}

/** The calls between two counts. */
export function between(before: Calls, after: Calls): Calls {
  const byKind = [...after.byKind].map(([kind, count]) => [kind, count - (before.byKind.get(kind) ?? 0)] as const)
  return {
    writes: after.writes - before.writes,
    reads: after.reads - before.reads,
    passes: after.passes - before.passes,
    byKind: new Map(byKind),
  }
}

const PAUSE_MS = 1_000

/** Waits until no more calls are made. Returns the counts. */
export async function callsAtRest(operator: OperatorProcess): Promise<Calls> {
  let before = await callsOf(operator)
  return until(
    'the operator to converge',
    async () => {
      await delay(PAUSE_MS)
      const now = await callsOf(operator)
      const isQuiet = now.writes === before.writes && now.passes === before.passes
      before = now
      return isQuiet && now
    },
    PATIENCE_MS,
  )
}

function sum(samples: readonly { readonly value: number }[]): number {
  return samples.reduce((total, { value }) => total + value, 0)
}
