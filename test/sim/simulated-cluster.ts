/**
 * A cluster with one object under test, small enough to run thousands of histories. It commits plans in the order and with
 * the guarantees of the runtime's commit, can crash after any write, and calls the oracles after every write. A subclass
 * plays the other controllers of its workload.
 */
import { sameJson } from '../../src/api/json.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Contribution, Plan, PlannedWrite, Report } from '../../src/decision/plan.ts'
import { timestamp } from '../../src/plan/time.ts'

export const START = Date.parse('2026-01-01T00:00:00Z')

interface Condition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string
}

interface ObjectStatus {
  readonly conditions?: readonly Condition[] | undefined
}

/** `Write` is what oracles get to know of one write. */
export abstract class SimulatedCluster<Status extends ObjectStatus, Write> {
  now = START
  /** Writes of the operator so far. */
  readonly writes: Write[] = []
  /** Reasons of the events so far. */
  readonly events: string[] = []
  #crashAfter = Infinity

  /** Plans from what is observed now. Undefined while the object cannot be planned for yet. */
  protected abstract plan(): Plan<Status> | undefined
  protected abstract afterWrite(write: Write): void
  protected abstract prune(object: KubeObject): void
  protected abstract apply(object: KubeObject): void
  /** The object under test as it is stored; a status is written by storing it again. */
  protected abstract get stored(): KubeObject & { readonly status?: ObjectStatus }
  protected abstract set stored(object: KubeObject)
  protected abstract get statusWrite(): Write

  // Steps that a workload's plans do not have are ignored.
  protected pruneInForeground(object: KubeObject): void {
    this.prune(object)
  }
  protected force(_object: KubeObject): void {}
  protected create(_object: KubeObject): void {}
  protected createUnowned(_object: KubeObject): void {}
  protected contribute(_write: Contribution): void {}
  protected createUnread(_object: KubeObject): void {}
  protected createRecord(_object: KubeObject): void {}
  protected annotate(_object: KubeObject, _annotations: Readonly<Record<string, string>>): void {}
  protected reportStatus(_write: Report): void {}
  protected expire(): void {}

  /** One pass of the operator. With `survives`, only that many writes happen, as if the operator had crashed then. */
  pass(survives = Infinity): Plan<Status> | undefined {
    const last = this.writes.length + survives
    this.#crashAfter = last
    const plan = this.plan()
    if (plan) this.commit(plan, last - this.writes.length)
    return plan
  }

  /** Commits a plan; `survives` as in `pass`. */
  commit(plan: Plan<Status>, survives = Infinity): void {
    this.#crashAfter = this.writes.length + survives
    this.#commitChildren(plan)
    if (plan.status) this.#writeStatus(plan.status, plan.events)
    if (plan.deletions.some(({ how }) => how === 'owner')) this.expire()
  }

  #commitChildren({ deletions, writes }: Plan<Status>): void {
    for (const { how, object } of deletions) {
      if (how === 'graceful' || how === 'record') this.prune(object)
      if (how === 'foreground') this.pruneInForeground(object)
    }
    for (const { how, object } of deletions) if (how === 'force') this.force(object)
    for (const write of writes) this.#writeChild(write)
  }

  #writeChild(write: PlannedWrite): void {
    switch (write.how) {
      case 'apply':
        return this.apply(write.object)
      case 'create':
        return this.create(write.object)
      case 'createUnowned':
        return this.createUnowned(write.object)
      case 'createRecord':
        return this.createRecord(write.object)
      case 'createUnread':
        return this.createUnread(write.object)
      case 'annotate':
        return this.annotate(write.object, write.annotations)
      case 'contribute':
        return this.contribute(write)
      case 'report':
        return this.reportStatus(write)
    }
  }

  /** Does nothing once the operator has crashed. */
  protected write(write: Write, act: () => void): void {
    if (this.writes.length >= this.#crashAfter) return
    act()
    this.writes.push(write)
    this.afterWrite(write)
  }

  #writeStatus(status: Status, events: Plan['events']): void {
    const stamped = this.#stamped(status)
    if (sameJson(stamped, this.stored.status ?? {})) return
    this.write(this.statusWrite, () => {
      this.stored = { ...this.stored, status: JSON.parse(JSON.stringify(stamped)) as object } as KubeObject
      this.events.push(...events.map(({ reason }) => reason))
    })
  }

  /** A condition keeps its time until its status changes. */
  #stamped(status: Status): ObjectStatus {
    if (!status.conditions) return status
    const known = new Map(this.stored.status?.conditions?.map((condition) => [condition.type, condition]))
    const conditions = status.conditions.map((condition) => {
      const before = known.get(condition.type)
      const isSame = before?.status === condition.status
      return { ...condition, lastTransitionTime: (isSame && before.lastTransitionTime) || timestamp(this.now) }
    })
    return { ...status, conditions }
  }
}
