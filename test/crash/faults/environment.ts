/** The environment of the operator in a plan: reads that are stale, delayed, reordered or denied, decoys, and its clock. */
import type { Interceptor } from '../../../src/kube/interceptor.ts'
import { type Clock, systemClock } from '../../../src/runtime/clock.ts'
import { Decoys } from './decoys.ts'
import type { FaultPlan } from './fault.ts'
import { FlippingDiscovery } from './flipping-discovery.ts'
import type { FaultInjector } from './fault-injector.ts'
import { shuffledLists } from './shuffled-lists.ts'
import { slowWatch } from './slow-watch.ts'
import { staleReads } from './stale-reads.ts'

export interface Environment {
  /** For one run of the operator, counted from 1. */
  of(run: number): { readonly interceptors: readonly Interceptor[]; readonly clock: Clock }
  /** Called at every write, before it is sent, with its number. */
  onWrite(write: number): void
}

const HOUR_MS = 3_600_000

export function environmentOf(plan: FaultPlan, injector: Pick<FaultInjector, 'versions'>): Environment {
  const { lag, slow, shuffle, flip } = plan
  const decoys = new Decoys()
  const discovery = flip && new FlippingDiscovery(flip.denied)
  return {
    of: (run) => {
      const past = lag === undefined ? undefined : injector.versions.at(-1 - lag)
      const interceptors = [
        decoys.interceptor,
        past !== undefined && staleReads(past),
        slow && slowWatch(slow),
        shuffle !== undefined && shuffledLists(shuffle + run),
        discovery?.interceptor,
      ]
      return { interceptors: interceptors.filter((one) => typeof one === 'function'), clock: clockOf(plan, run) }
    },
    onWrite: (write) => {
      if (write === flip?.write) discovery?.flip()
    },
  }
}

function clockOf({ clock }: FaultPlan, run: number): Clock {
  if (!clock) return systemClock
  const sign = clock.jumps && run % 2 === 0 ? -1 : 1
  return { ...systemClock, now: () => systemClock.now() + sign * clock.hours * HOUR_MS }
}
