/**
 * Changes and removes every leaf of a live spec, then reverts it. The state after the revert must equal the state before. A
 * rejection must name the field. A leaf with an effect must show it.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { ApiError } from '../../src/kube/errors.ts'
import { keyOf, type KubeObject, type Resource } from '../../src/kube/object.ts'
import { objectPath } from '../../src/kube/path.ts'
import { seeded, shuffled } from '../random/seeded.ts'
import { crdSchemas, nameOfKind, specSchema } from './crd-schemas.ts'
import { effectOf } from './effects.ts'
import { differences, type Lane, type State } from './lane.ts'
import { type Transition, transitionsOf } from './transitions.ts'
import { type FullSpec, fullSpecs } from './full-specs.ts'

export interface TransitionReport {
  readonly transitions: number
  /** Changes and reverts. */
  readonly operations: number
  readonly reverted: number
  readonly rejected: number
  /** Leaves whose effect was observed, of the `decisive` ones, which have an effect. */
  readonly effective: number
  readonly decisive: number
  readonly violations: readonly string[]
}

export interface TransitionOptions {
  readonly open: (fullSpec: FullSpec) => Promise<Lane>
  readonly lanes: number
  readonly seed: number
  /** Number of operations, chosen by the seed. Default: all. */
  readonly sample?: number
  /** Where finished operations are recorded, so that a campaign can be continued. */
  readonly stateFile?: string
  readonly onProgress?: (line: string) => void
}

interface Operation extends Transition {
  readonly fullSpec: FullSpec
  readonly id: string
}

interface Outcome {
  readonly id: string
  readonly kind: string
  readonly leaf: string
  readonly verdict: 'reverted' | 'rejected' | 'violation'
  /** Kinds of the objects that changed. */
  readonly changed?: readonly string[]
  readonly why?: string
}

export async function runTransitions(options: TransitionOptions): Promise<TransitionReport> {
  const { seed, sample, lanes, stateFile, onProgress } = options
  const all = shuffled(seeded(seed), await operations())
  const chosen = all.slice(0, sample ?? all.length)
  const outcomes = recorded(stateFile)
  const done = new Set(outcomes.map(({ id }) => id))
  const queues = Map.groupBy(
    chosen.filter(({ id }) => !done.has(id)),
    ({ fullSpec }) => fullSpec,
  )
  const note = (outcome: Outcome): void => {
    outcomes.push(outcome)
    if (stateFile !== undefined) appendFileSync(stateFile, `${JSON.stringify(outcome)}\n`)
    const violations = outcomes.filter(({ verdict }) => verdict === 'violation').length
    onProgress?.(
      `transitions: ${outcomes.length} of ${chosen.length}, ${violations} violations; ${outcome.verdict}: ${outcome.id}`,
    )
  }
  const work = async (): Promise<void> => {
    for (let next = longestOf(queues); next; next = longestOf(queues)) await inLane(next, options, note)
  }
  await Promise.all(Array.from({ length: lanes }, work))
  return summary(outcomes, sample === undefined)
}

/** All operations on all objects. */
export async function operations(): Promise<Operation[]> {
  const schemas = await crdSchemas()
  return fullSpecs.flatMap((fullSpec) => {
    const kind = schemas.find(({ resource }) => nameOfKind(resource) === nameOfKind(fullSpec.subject.resource))
    if (!kind) throw new Error(`no schema of ${nameOfKind(fullSpec.subject.resource)}`)
    const { spec } = fullSpec.subject.object as KubeObject & { readonly spec: object }
    const every = transitionsOf(specSchema(kind), JSON.parse(JSON.stringify(spec)) as object)
    return every.map((transition) => ({ ...transition, fullSpec, id: `${fullSpec.name}: ${transition.what}` }))
  })
}

function recorded(file: string | undefined): Outcome[] {
  if (file === undefined || !existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Outcome)
}

type Queue = { readonly fullSpec: FullSpec; readonly queue: Operation[] }

function longestOf(queues: ReadonlyMap<FullSpec, Operation[]>): Queue | undefined {
  const [longest] = [...queues].toSorted(([, one], [, other]) => other.length - one.length)
  return longest && longest[1].length > 0 ? { fullSpec: longest[0], queue: longest[1] } : undefined
}

/** Runs operations on one object until none is left or the object has to be recreated. */
async function inLane(
  { fullSpec, queue }: Queue,
  { open }: TransitionOptions,
  note: (outcome: Outcome) => void,
): Promise<void> {
  const lane = await open(fullSpec)
  const { resource, object } = fullSpec.subject
  const subject = new Subject(lane, resource, {
    ...object,
    metadata: { ...object.metadata, namespace: lane.namespace },
  })
  try {
    const base = await lane.converge()
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { id, leaf } = next
      const outcome = await subject.judge(next, base)
      note({ id, leaf, kind: nameOfKind(resource), ...outcome })
      if (outcome.verdict === 'violation') return
    }
  } finally {
    await lane.stop()
  }
}

type Judgement = Pick<Outcome, 'verdict' | 'changed' | 'why'>

class Subject {
  readonly #lane: Lane
  readonly #resource: Resource
  readonly #object: KubeObject

  constructor(lane: Lane, resource: Resource, object: KubeObject) {
    this.#lane = lane
    this.#resource = resource
    this.#object = object
  }

  async judge({ operation, leaf }: Operation, base: State): Promise<Judgement> {
    const before = await this.#lane.client.get(this.#resource, keyOf(this.#object))
    const rejection = await this.#patch([operation])
    if (rejection !== undefined) return judgedRejection(rejection, leaf)
    try {
      const changed = kindsIn(differences(base, await this.#lane.converge()))
      const { spec } = before as KubeObject & { readonly spec: object }
      const rejected = await this.#patch([{ op: 'replace', path: '/spec', value: spec }])
      if (rejected !== undefined) return { verdict: 'violation', changed, why: `the revert was rejected: ${rejected}` }
      const left = differences(base, await this.#lane.converge()).filter((line) => !isKeptClaim(line))
      if (left.length === 0) return { verdict: 'reverted', changed }
      return { verdict: 'violation', changed, why: `after the revert: ${left.slice(0, 5).join('; ')}` }
    } catch (error) {
      return { verdict: 'violation', why: String(error) }
    }
  }

  /** The message of the rejection, if there is one. */
  async #patch(body: readonly object[]): Promise<string | undefined> {
    const path = objectPath(this.#resource, keyOf(this.#object))
    try {
      await this.#lane.client.request({ method: 'PATCH', path, body, contentType: 'application/json-patch+json' })
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return error.message
    }
  }
}

/** A claim that the changed spec needed: volumes with checkpoints are never deleted (T6). */
const isKeptClaim = (line: string): boolean => /^PersistentVolumeClaim\/[^.]+-checkpoints\..*: absent → /.test(line)

function judgedRejection(message: string, leaf: string): Judgement {
  const names = leaf.split(/[.[\]{}]+/).filter(Boolean)
  const isNamed = names.some((name) => message.includes(name))
  return isNamed
    ? { verdict: 'rejected' }
    : { verdict: 'violation', why: `the rejection does not name the field: ${message}` }
}

function kindsIn(lines: readonly string[]): string[] {
  return [
    ...new Set(
      lines.filter((line) => !/^\S+\.spec\b.*$/.test(line) || !isOwnLine(line)).map((line) => line.split('/')[0] ?? ''),
    ),
  ]
}

/** Our own spec is what was changed, not what changed with it. */
const isOwnLine = (line: string): boolean => /^(TrainingJob|ModelDeployment|ModelServer)\//.test(line)

/** After all operations, every leaf with an effect must have shown it. */
function summary(outcomes: readonly Outcome[], isWhole: boolean): TransitionReport {
  const count = (verdict: string): number => outcomes.filter((outcome) => outcome.verdict === verdict).length
  const byLeaf = Map.groupBy(outcomes, ({ kind, leaf }) => `${kind} ${leaf}`)
  const accepted = [...byLeaf.values()].filter((group) => group.some(({ verdict }) => verdict !== 'rejected'))
  const decisive = accepted.filter(([first]) => first && effectOf(first.kind, first.leaf)?.changes !== undefined)
  const ineffective = decisive.filter((group) => !group.some(isObserved))
  const violations = outcomes.filter(({ verdict }) => verdict === 'violation').map(({ id, why }) => `${id}: ${why}`)
  const unobserved = ineffective.map(([first]) => `${first?.kind} ${first?.leaf}: no change of it changed a child`)
  return {
    transitions: outcomes.length,
    operations: 2 * outcomes.length - count('rejected'),
    reverted: count('reverted'),
    rejected: count('rejected'),
    effective: decisive.length - ineffective.length,
    decisive: decisive.length,
    violations: isWhole ? [...violations, ...unobserved] : violations,
  }
}

function isObserved({ kind, leaf, changed = [] }: Outcome): boolean {
  return effectOf(kind, leaf)?.changes?.some((expected) => changed.includes(expected)) ?? false
}
