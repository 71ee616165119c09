/**
 * A batch of generated objects, which are created, reconciled and deleted in their own namespace. Every object must reach a
 * state with a reason, and be deletable.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { modelServers, trainingJobs, trainingSchedules } from '../../src/api/kinds.ts'
import { isManagedByOthers } from '../../src/api/managed-by.ts'
import type { TrainingJob } from '../../src/api/trainingjob.v1.ts'
import type { Client } from '../../src/kube/client.ts'
import { ApiError } from '../../src/kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../../src/kube/object.ts'
import { Namespace } from '../../src/kube/resources.ts'
import { createNamespace } from '../cluster/namespaces.ts'
import { createPodQuota } from '../cluster/quota.ts'
import { Semaphore } from '../timing/semaphore.ts'
import { until } from '../timing/until.ts'
import { ownKinds } from './lane.ts'
import type { Poison } from './poison.ts'

export interface BatchOutcome {
  readonly accepted: number
  /** Rejected by rules over several fields, which the generator does not always respect. */
  readonly rejected: number
  readonly violations: readonly string[]
}

export interface BatchDeps {
  readonly client: Client
  /** Whether the operator runs. If it has ended, there is nothing to wait for. */
  readonly isRunning: () => boolean
  /** Called with the message of every rejection. */
  readonly onRejected?: (message: string) => void
}

const AT_ONCE = 8
const PATIENCE_MS = 60_000
const POLL_MS = 300

export async function runBatch(deps: BatchDeps, make: (namespace: string) => readonly Poison[]): Promise<BatchOutcome> {
  const { client } = deps
  const namespace = await limitedNamespace(client, 'poison')
  const poisons = make(namespace)
  const batch = new Batch(deps, namespace, poisons)
  const slots = new Semaphore(AT_ONCE)
  await Promise.all(poisons.map((poison) => slots.run(() => batch.create(poison))))
  await batch.expectNone('has no state with a reason', (object) => !hasReason(object))
  await Promise.all(poisons.map((poison) => slots.run(() => batch.delete(poison))))
  await batch.expectNone('cannot be deleted', () => true)
  await client.delete(Namespace, { name: namespace })
  return { accepted: batch.accepted, rejected: batch.rejected, violations: batch.violations }
}

class Batch {
  accepted = 0
  rejected = 0
  readonly violations: string[] = []
  readonly #deps: BatchDeps
  readonly #namespace: string
  readonly #poisons: readonly Poison[]

  constructor(deps: BatchDeps, namespace: string, poisons: readonly Poison[]) {
    this.#deps = deps
    this.#namespace = namespace
    this.#poisons = poisons
  }

  async create({ resource, object }: Poison): Promise<void> {
    try {
      await this.#deps.client.create(resource, object)
      this.accepted += 1
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      this.rejected += 1
      this.#deps.onRejected?.(error.message)
      if (error.code >= 500) this.violations.push(`${nameWithKind(object)} could not be created: ${error.message}`)
    }
  }

  async delete({ resource, object }: Poison): Promise<void> {
    const { client } = this.#deps
    try {
      await until('deleted', () => client.delete(resource, keyOf(object)).then(() => true), PATIENCE_MS)
    } catch (error) {
      this.violations.push(`${nameWithKind(object)} could not be deleted: ${String(error)}`)
    }
  }

  /** Waits until the predicate holds for no object, as long as their number decreases. The rest are violations. */
  async expectNone(otherwise: string, predicate: (object: KubeObject) => boolean): Promise<void> {
    let left = await this.#list(predicate)
    let deadline = Date.now() + PATIENCE_MS
    while (left.length > 0 && Date.now() < deadline && this.#deps.isRunning()) {
      await delay(POLL_MS)
      const still = await this.#list(predicate)
      if (still.length < left.length) deadline = Date.now() + PATIENCE_MS
      left = still
    }
    for (const object of left) {
      const { status } = object as WithStatus
      const number = this.#poisons.findIndex((poison) => poison.object.metadata.name === object.metadata.name)
      this.violations.push(`${nameWithKind(object)} (number ${number} of its batch) ${otherwise}: ${brief(status)}`)
    }
  }

  async #list(predicate: (object: KubeObject) => boolean): Promise<KubeObject[]> {
    const { client } = this.#deps
    const lists = await Promise.all(ownKinds.map((kind) => client.list(kind, { namespace: this.#namespace })))
    return lists.flatMap(({ items }) => items).filter(predicate)
  }
}

/**
 * Whether the status has a state and a reason. A ModelServer has no status, nor has a job of another controller, and a
 * TrainingSchedule has only conditions.
 */
function hasReason(object: KubeObject): boolean {
  if (object.kind === modelServers.kind || isLeftAlone(object)) return true
  const { status, metadata } = object as WithStatus
  const isCurrent = status?.observedGeneration === metadata.generation
  const isNamed = object.kind === trainingSchedules.kind || (status?.state ?? status?.phase) !== undefined
  return isCurrent && isNamed && (status?.conditions ?? []).some(({ reason }) => (reason ?? '') !== '')
}

const isLeftAlone = (object: KubeObject): boolean =>
  object.kind === trainingJobs.kind && isManagedByOthers(object as TrainingJob)

const brief = (value: unknown): string => (JSON.stringify(value) ?? 'no status').slice(0, 500)

interface WithStatus extends KubeObject {
  readonly status?: {
    readonly observedGeneration?: number
    readonly state?: string
    readonly phase?: string
    readonly conditions?: readonly { readonly reason?: string }[]
  }
}

/** A namespace with a quota, which limits objects that ask for millions of pods. */
export async function limitedNamespace(client: Client, prefix: string): Promise<string> {
  const name = await createNamespace(client, `${prefix}-${randomBytes(4).toString('hex')}`)
  await createPodQuota(client, name, 60)
  return name
}
