/** The results of a campaign in a file, so that an interrupted one can continue. Valid for one state of the tree. */
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Verdict } from './judge.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Stored {
  readonly digest: string
  readonly baselines: Readonly<Record<string, Verdict>>
  readonly verdicts: Readonly<Record<string, Verdict>>
}

export class CampaignState {
  readonly #file: string | undefined
  readonly #digest = treeDigest()
  readonly #baselines: Map<string, Verdict>
  readonly #verdicts: Map<string, Verdict>

  /** Without a file, results are not kept. */
  constructor(file?: string) {
    this.#file = file
    const stored = file === undefined ? undefined : read(file)
    const isCurrent = stored?.digest === this.#digest
    this.#baselines = new Map(Object.entries(isCurrent ? stored.baselines : {}))
    this.#verdicts = new Map(Object.entries(isCurrent ? stored.verdicts : {}))
  }

  baseline(oracle: string): Verdict | undefined {
    return this.#baselines.get(oracle)
  }

  verdict(mutant: string): Verdict | undefined {
    return this.#verdicts.get(mutant)
  }

  keepBaseline(oracle: string, verdict: Verdict): void {
    this.#baselines.set(oracle, verdict)
    this.#write()
  }

  keepVerdict(mutant: string, verdict: Verdict): void {
    this.#verdicts.set(mutant, verdict)
    this.#write()
  }

  #write(): void {
    if (this.#file === undefined) return
    const stored: Stored = {
      digest: this.#digest,
      baselines: Object.fromEntries(this.#baselines),
      verdicts: Object.fromEntries(this.#verdicts),
    }
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(`${this.#file}.new`, JSON.stringify(stored, undefined, 1))
    renameSync(`${this.#file}.new`, this.#file)
  }
}

/** Changes with every source, test and mutant. */
function treeDigest(): string {
  const hash = createHash('sha256')
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: ROOT }).toSorted())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(ROOT, file)))
      .update('\0')
  return hash.digest('hex')
}

function read(file: string): Stored | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Stored
  } catch {
    return undefined
  }
}
