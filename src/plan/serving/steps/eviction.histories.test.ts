/** Random lives of pods that fall ill and recover, judged at every eviction; and bugs that the judges must find. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectsToDelete } from '../../../../test/builders/plans.ts'
import { Dice } from '../../../../test/random/dice.ts'
import { type PodSeen, sickObserved, storing } from '../../../../test/sim/sick-pods.ts'
import { toDelete } from '../../../decision/plan.ts'
import type { ServingObserved } from '../observe/observed.ts'
import { planServing } from '../plan.ts'
import type { PlannedServingStatus, ServingPlan } from '../serving-plan.ts'
import { LAST_RESORT_MS } from './eviction.ts'

type Planner = (observed: ServingObserved) => ServingPlan

const PASSES = 80
const REPLICAS = 3

class Life {
  readonly #dice: Dice
  readonly #plan: Planner
  #status: PlannedServingStatus | undefined
  #names = 0
  /** Seconds since `NOW`. */
  #now = 0
  #pods: PodSeen[] = []
  /** Seconds of the evictions so far. */
  readonly evictions: number[] = []

  constructor(plan: Planner, seed: number) {
    this.#dice = new Dice(seed)
    this.#plan = plan
    this.#pods = Array.from({ length: REPLICAS }, () => this.#newPod(true))
  }

  play(): void {
    for (let pass = 0; pass < PASSES; pass += 1) {
      this.#now += this.#dice.of([1, 10, 30, 60, 600, 3_600])
      this.#pods = this.#pods.map((pod) => this.#change(pod))
      // The operator restarts: its checks know nothing.
      if (this.#dice.is(0.05)) this.#pods = this.#pods.map(({ failures: _known, ...pod }) => pod)
      this.#pass()
    }
  }

  #newPod(isReady: boolean): PodSeen {
    return { name: `pod-${(this.#names += 1)}`, isReady, unreadySince: this.#now, hasPassed: false }
  }

  #change(pod: PodSeen): PodSeen {
    const { failures = 0, isReady = true } = pod
    const turn = this.#dice.next()
    if (turn < 0.3) return { ...pod, failures: failures + this.#dice.below(4) }
    if (turn < 0.5) return { ...pod, failures: 0, misses: 0, hasPassed: true }
    if (turn < 0.6) return { ...pod, misses: (pod.misses ?? 0) + 2 }
    if (turn < 0.75) return { ...pod, isReady: !isReady, unreadySince: this.#now }
    if (turn < 0.78) return { ...pod, restarts: 6 }
    return pod
  }

  #pass(): void {
    const seen = sickObserved({ pods: this.#pods, now: this.#now, replicas: REPLICAS })
    const observed = this.#status ? storing(seen, this.#status) : seen
    const plan = this.#plan(observed)
    const evicted = objectsToDelete(plan, 'evict').map(({ metadata }) => metadata.name)
    assert.ok(evicted.length <= 1, 'one at a time')
    // As commit does: not in a pass that changes the status, and a crash can come before.
    const isStored = JSON.stringify(plan.status?.activeVersions) === JSON.stringify(this.#status?.activeVersions)
    for (const name of evicted) this.#judge(name)
    if (this.#dice.is(0.9)) this.#status = plan.status
    if (isStored && this.#dice.is(0.9)) for (const name of evicted) this.#evict(name)
  }

  #judge(name: string): void {
    const due = this.#status?.activeVersions?.[0]?.health?.evicting
    assert.equal(due?.pod, name, 'E1: an eviction is recorded before')
    const pod = this.#pods.find((one) => one.name === name)
    assert.ok(pod, 'E2: only pods of the version')
    const others = this.#pods.filter((one) => one.name !== name)
    const isLast = !others.some(({ isReady }) => isReady)
    const idle = this.#pods.every(
      ({ isReady, unreadySince = 0 }) => !isReady && (this.#now - unreadySince) * 1000 >= LAST_RESORT_MS,
    )
    assert.ok(!isLast || idle, 'E3: never the last ready one')
    assert.ok(pod.failures === undefined || pod.failures > 0 || pod.misses || pod.restarts, 'E4: not a healthy pod')
  }

  #evict(name: string): void {
    const last = this.evictions.at(-1) ?? -Infinity
    assert.ok(this.#now - last >= 60, 'E5: a delay between evictions')
    this.evictions.push(this.#now)
    const recent = this.evictions.filter((at) => this.#now - at < 3_600)
    assert.ok(recent.length <= 6, 'E6: the delay grows')
    this.#pods = [...this.#pods.filter((pod) => pod.name !== name), this.#newPod(this.#dice.is(0.7))]
  }
}

function play(plan: Planner, lives: number): number {
  let evictions = 0
  for (let seed = 1; seed <= lives; seed += 1) {
    const life = new Life(plan, seed)
    try {
      life.play()
    } catch (error) {
      throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
    evictions += life.evictions.length
  }
  return evictions
}

test('no random life of pods breaks a rule, and pods are evicted in it', () => {
  assert.ok(play(planServing, 250) > 250)
})

const evictingAt = (
  observed: ServingObserved,
  pick: (plan: ServingPlan) => readonly ServingObserved['pods'][number][],
) => {
  const plan = planServing(observed)
  return {
    ...plan,
    deletions: [...plan.deletions.filter(({ how }) => how !== 'evict'), ...toDelete('evict', pick(plan))],
  }
}

const due = (observed: ServingObserved, plan: { readonly status?: PlannedServingStatus }) =>
  observed.pods.filter(({ metadata }) => metadata.uid === plan.status?.activeVersions?.[0]?.health?.evicting?.uid)

/** The planner forgets a part of what was recorded. */
const forgetting =
  (field: 'evictions' | 'lastEvictionTime'): Planner =>
  (observed) => {
    const status = observed.model.status as PlannedServingStatus | undefined
    const activeVersions = status?.activeVersions?.map((one) => ({
      ...one,
      health: { ...one.health, [field]: undefined },
    }))
    return planServing(storing(observed, status && ({ ...status, activeVersions } as PlannedServingStatus)))
  }

const bugs: readonly (readonly [string, RegExp, Planner])[] = [
  ['evicts before it is recorded', /E1/, (observed) => evictingAt(observed, (plan) => due(observed, plan))],
  ['evicts the last ready pod', /E3/, (observed) => evictingAt(observed, () => due(observed, observed.model))],
  ['forgets when it evicted last', /E5|E6/, forgetting('lastEvictionTime')],
]

for (const [name, oracle, planner] of bugs)
  test(`a planner that ${name} is caught`, () => assert.throws(() => play(planner, 250), { message: oracle }))
