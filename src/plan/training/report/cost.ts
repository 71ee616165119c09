/**
 * The cost of a job: requests of its pods times the time for which they hold a node, by attempt. It is counted up to a recorded
 * time, in the same write as the time itself, so a crash neither loses nor repeats a part of it. It changes only together with
 * another change of the status. Amounts are whole numbers of thousandths and seconds, which the hours of the status represent
 * exactly.
 */
import type { Verdict } from '../../../api/conditions.ts'
import { sameJson } from '../../../api/json.ts'
import { type AttemptCost, type CostStatus, type HeldResources, MAX_COST_ATTEMPTS } from '../../../api/training-cost.ts'
import type { TrainingJobStatus } from '../../../api/training-status.ts'
import { millis, timestamp } from '../../time.ts'
import { type PodUsage, usageOf } from '../observe/pod-usage.ts'
import { everyone, type Snapshot } from '../observe/snapshot.ts'
import type { PlannedStatus } from './status.ts'

/** Thousandths of a GPU and of a CPU, times seconds; and money. */
interface Spent {
  readonly gpu: number
  readonly cpu: number
  readonly money: number
}

/** The status with the cost up to now, if something else in it has changed. */
export function withCost(snapshot: Snapshot, status: PlannedStatus): PlannedStatus {
  if (!hasChanged(snapshot.job.status, status)) return status
  const cost = costAfter(snapshot)
  return cost ? { ...status, cost } : status
}

/** Whether the status differs in more than transition times, which commit sets. */
export const hasChanged = (known: TrainingJobStatus | undefined, planned: PlannedStatus): boolean =>
  !sameJson(withoutTimes(known ?? {}), withoutTimes(planned))

function withoutTimes(status: PlannedStatus | TrainingJobStatus): PlannedStatus {
  const { conditions, ...rest } = status
  return { ...rest, ...(conditions && { conditions: conditions.map(withoutTime) }) }
}

function withoutTime({ lastTransitionTime: _stamped, ...verdict }: Verdict & { lastTransitionTime?: string }): Verdict {
  return verdict
}

/** Undefined if no pod has had a node yet. */
export function costAfter(snapshot: Snapshot): CostStatus | undefined {
  const { observed, job, attempt } = snapshot
  const known = job.status?.cost
  const number = Math.max(1, attempt.number)
  const usages = everyone(snapshot)
    .flatMap((member) => usageOf(member, observed) ?? [])
    .map((usage) => ({ ...usage, attempt: attemptIn(usage.attempt, number) }))
  if (!known && usages.length === 0) return undefined
  const since = millis(known?.time) ?? -Infinity
  const until = Math.max(since, Math.floor(observed.now / 1000) * 1000)
  const charges = [
    ...usages.map((usage) => chargeOf(usage, Math.max(usage.start, since), Math.min(usage.end ?? until, until))),
    ...goneSince(known, usages, since).map((gone) => chargeOf(gone, since, until)),
  ]
  const { prices, currency } = observed.config.cost
  const isPriced = prices.length > 0 || known?.estimated !== undefined
  const held = heldAt(usages, until, isPriced)
  return {
    ...amountsOf(sum([spentIn(known), ...charges]), isPriced),
    ...(isPriced && { currency }),
    attempts: attemptsAfter(known?.attempts ?? [], charges, isPriced),
    time: timestamp(until),
    ...(held && { held }),
  }
}

/** Labels of pods can be edited. */
const attemptIn = (labelled: number, current: number): number =>
  Number.isInteger(labelled) && labelled >= 1 && labelled <= current ? labelled : current

interface Charge extends Spent {
  readonly attempt: number
}

type Rate = Pick<PodUsage, 'attempt' | 'gpus' | 'cpus' | 'price'>

function chargeOf({ attempt, gpus, cpus, price }: Rate, from: number, to: number): Charge {
  const seconds = Math.max(0, to - from) / 1000
  return { attempt, gpu: gpus * seconds, cpu: cpus * seconds, money: rounded((price * seconds) / 3600, MONEY_DIGITS) }
}

const isOpenAt =
  (time: number) =>
  ({ start, end }: PodUsage): boolean =>
    start <= time && (end === undefined || end > time)

/** What was held at the recorded time and belongs to pods that no longer exist. They count until now. */
function goneSince(known: CostStatus | undefined, usages: readonly PodUsage[], since: number): Rate[] {
  const { held } = known ?? {}
  if (!held) return []
  const left = rateOf(usages.filter(isOpenAt(since)))
  return [
    {
      attempt: held.attempt,
      gpus: Math.max(0, Math.round(held.gpus * 1000) - left.gpus),
      cpus: Math.max(0, Math.round(held.cpus * 1000) - left.cpus),
      price: Math.max(0, rounded((held.pricePerHour ?? 0) - left.price, MONEY_DIGITS)),
    },
  ]
}

function heldAt(usages: readonly PodUsage[], time: number, isPriced: boolean): HeldResources | undefined {
  const open = usages.filter(isOpenAt(time))
  if (open.length === 0) return undefined
  const { gpus, cpus, price } = rateOf(open)
  const attempt = Math.max(...open.map((usage) => usage.attempt))
  return { attempt, gpus: gpus / 1000, cpus: cpus / 1000, ...(isPriced && { pricePerHour: price }) }
}

function rateOf(usages: readonly PodUsage[]): Omit<Rate, 'attempt'> {
  const total = (pick: (usage: PodUsage) => number): number => usages.reduce((all, usage) => all + pick(usage), 0)
  return {
    gpus: total(({ gpus }) => gpus),
    cpus: total(({ cpus }) => cpus),
    price: rounded(
      total(({ price }) => price),
      MONEY_DIGITS,
    ),
  }
}

function attemptsAfter(known: readonly AttemptCost[], charges: readonly Charge[], isPriced: boolean): AttemptCost[] {
  const before = known.map((one) => ({ attempt: one.attempt, ...spentIn(one) }))
  return [...Map.groupBy([...before, ...charges], ({ attempt }) => attempt)]
    .toSorted(([one], [other]) => one - other)
    .slice(-MAX_COST_ATTEMPTS)
    .map(([attempt, parts]) => ({ attempt, ...amountsOf(sum(parts), isPriced) }))
}

const sum = (parts: readonly Spent[]): Spent => ({
  gpu: parts.reduce((all, { gpu }) => all + gpu, 0),
  cpu: parts.reduce((all, { cpu }) => all + cpu, 0),
  money: parts.reduce((all, { money }) => all + money, 0),
})

/** Thousandths times seconds of an hour. */
const HOUR = 3_600_000
/** Digits from which the whole number can be told. */
const HOUR_DIGITS = 7
const MONEY_DIGITS = 6

type Amounts = Pick<CostStatus, 'gpuHours' | 'cpuHours' | 'estimated'>

const spentIn = ({ gpuHours, cpuHours, estimated = 0 }: Amounts = { gpuHours: 0, cpuHours: 0 }): Spent => ({
  gpu: Math.round(gpuHours * HOUR),
  cpu: Math.round(cpuHours * HOUR),
  money: estimated,
})

const amountsOf = ({ gpu, cpu, money }: Spent, isPriced: boolean): Amounts => ({
  gpuHours: rounded(gpu / HOUR, HOUR_DIGITS),
  cpuHours: rounded(cpu / HOUR, HOUR_DIGITS),
  ...(isPriced && { estimated: rounded(money, MONEY_DIGITS) }),
})

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))
