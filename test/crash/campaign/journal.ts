/**
 * The journal of a campaign, one JSON object per line, so that an interrupted campaign continues where it stopped. A journal
 * is valid for the code and settings that it was written with; with others, the campaign starts again.
 */
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ReferenceRun } from './scenario-reference.ts'

export interface PlanRecord {
  readonly type: 'plan'
  readonly workload: string
  readonly scenario: string
  readonly kind: string
  readonly plan: string
  readonly reached: boolean
  readonly crashes: number
  readonly violations: readonly string[]
  /** Milliseconds by phase. */
  readonly times: Readonly<Record<string, number>>
}

export interface ReferenceRecord {
  readonly type: 'reference'
  readonly scenario: string
  readonly runs: readonly [StoredRun, StoredRun]
}

/** A campaign that is not made of fault plans, run as a whole. */
export interface PartRecord {
  readonly type: 'part'
  readonly name: string
  readonly figures: Readonly<Record<string, string | number>>
  readonly violations: readonly string[]
  readonly ms: number
}

/** Time spent by an earlier run of the same campaign. */
interface TimeRecord {
  readonly type: 'time'
  readonly ms: number
}

type Entry = PlanRecord | ReferenceRecord | PartRecord | TimeRecord

interface StoredRun {
  readonly writes: readonly string[]
  readonly violations: readonly string[]
  readonly tally: readonly (readonly [string, { readonly created: number; readonly deleted: number }])[]
  readonly end: readonly (readonly [string, string])[]
}

export class Journal {
  readonly #file: string
  readonly #entries: Entry[]

  private constructor(file: string, entries: Entry[]) {
    this.#file = file
    this.#entries = entries
  }

  /** Continues the file if it has the same key; otherwise starts a new one. */
  static open(file: string, key: string): Journal {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    const [header, ...rest] = lines.flatMap(parsed)
    if ((header as { readonly key?: string } | undefined)?.key === key) return new Journal(file, rest as Entry[])
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify({ key })}\n`)
    return new Journal(file, [])
  }

  get plans(): readonly PlanRecord[] {
    return this.#entries.filter((entry) => entry.type === 'plan')
  }

  get parts(): readonly PartRecord[] {
    return this.#entries.filter((entry) => entry.type === 'part')
  }

  /** Total milliseconds of all runs that were recorded. */
  get ms(): number {
    return this.#entries.reduce((sum, entry) => sum + (entry.type === 'time' ? entry.ms : 0), 0)
  }

  get references(): readonly ReferenceRecord[] {
    return this.#entries.filter((entry) => entry.type === 'reference')
  }

  reference(scenario: string): readonly [ReferenceRun, ReferenceRun] | undefined {
    const runs = this.references.find((entry) => entry.scenario === scenario)?.runs
    return runs && [restored(runs[0]), restored(runs[1])]
  }

  recordReference(scenario: string, [first, second]: readonly [ReferenceRun, ReferenceRun]): void {
    this.#append({ type: 'reference', scenario, runs: [stored(first), stored(second)] })
  }

  record(entry: PlanRecord | PartRecord | TimeRecord): void {
    this.#append(entry)
  }

  #append(entry: Entry): void {
    this.#entries.push(entry)
    appendFileSync(this.#file, `${JSON.stringify(entry)}\n`)
  }
}

/** Omits a line that was truncated by the end of the process. */
function parsed(line: string): unknown[] {
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
}

const stored = ({ writes, violations, tally, end }: ReferenceRun): StoredRun => ({
  writes,
  violations,
  tally: [...tally],
  end: [...end],
})

const restored = ({ tally, end, ...rest }: StoredRun): ReferenceRun => ({
  ...rest,
  tally: new Map(tally),
  end: new Map(end),
})

/** Everything that runs scenarios or judges them. */
const HARNESS = 'test/{builders,client,cluster,crash,fakes,fixtures,images,operator,random,timing}/**/*.ts'

/** Digest of everything that determines a plan's result: operator, harness and CRDs. */
export function codeDigest(root: string): string {
  const hash = createHash('sha256')
  const files = globSync(['src/**/*.ts', HARNESS, 'config/crd/*.yaml'], { cwd: root })
  for (const file of files.filter((name) => !name.endsWith('.test.ts')).toSorted())
    hash.update(file).update(readFileSync(`${root}/${file}`))
  return hash.digest('hex').slice(0, 16)
}
