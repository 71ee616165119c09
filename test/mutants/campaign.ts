/**
 * Judges mutants. Each oracle run must pass on the real source, and then fail with each of its planted bugs.
 *
 * - caught: a test of the oracle failed.
 * - survived: the run passed, or ended without a test that failed. A mutant that does not compile has not been caught.
 * - timeout: the run did not end and no test had failed, so the mutant has survived.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { startControlPlane } from '../../testenv/control-plane.ts'
import { judge, type Verdict } from './judge.ts'
import { mutants } from './all.ts'
import { type Mutant, mutated } from './mutant.ts'
import { type Oracle, oracleName } from './oracles.ts'
import { sampleOf } from './sample.ts'
import { CampaignState } from './state.ts'

export interface MutationOptions {
  /** Ids or prefixes of ids. Default: all. */
  readonly only?: readonly string[]
  /** Number of mutants, spread over all areas, with oracles that need no cluster. */
  readonly sample?: number
  readonly seed?: number
  /** Where results are kept, so that an interrupted campaign can continue. */
  readonly stateFile?: string
  readonly onProgress?: (line: string) => void
}

export interface Judged {
  readonly mutant: Mutant
  readonly verdict: Verdict
  readonly isCaught: boolean
}

export interface MutationReport {
  readonly judged: readonly Judged[]
  readonly caught: number
  readonly survivors: readonly Judged[]
  readonly timeouts: number
  /** Oracle runs that fail on the real source; their results do not count. */
  readonly broken: readonly string[]
}

const ROOT = resolve(import.meta.dirname, '../..')
const BASELINE_MS = 10 * 60_000
/** A run with a bug may take longer: many bugs show as waits that time out. */
const PATIENCE = 5
const LEAST_PATIENCE_MS = 120_000

export async function mutationCampaign(options: MutationOptions = {}): Promise<MutationReport> {
  const chosen = selected(options)
  for (const mutant of chosen) assertApplies(mutant)
  const state = new CampaignState(options.stateFile)
  const open = chosen.filter(({ id }) => !state.verdict(id))
  const plane = open.some(({ caughtBy }) => caughtBy.needs === 'controlplane') ? await controlPlane() : undefined
  try {
    const campaign = new Campaign({ state, env: plane?.env ?? {}, onProgress: options.onProgress ?? (() => undefined) })
    return await campaign.judgeAll(chosen)
  } finally {
    await plane?.stop()
  }
}

function selected({ only = [], sample, seed = 1 }: MutationOptions): readonly Mutant[] {
  const wanted = only.length === 0 ? mutants : mutants.filter(({ id }) => only.some((start) => id.startsWith(start)))
  return sample === undefined ? wanted : sampleOf(wanted, sample, seed)
}

/** A mutant that does not match its source is an error in the list, not a caught mutant. */
export function assertApplies(mutant: Mutant): void {
  try {
    mutated(readFileSync(join(ROOT, mutant.file), 'utf8'), mutant)
  } catch (error) {
    throw new Error(`mutant ${mutant.id} does not apply: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

async function controlPlane(): Promise<{ readonly env: Record<string, string>; stop(): Promise<void> }> {
  const existing = process.env['TEST_KUBECONFIG']
  if (existing !== undefined) return { env: { TEST_KUBECONFIG: existing }, stop: async () => {} }
  const plane = await startControlPlane()
  return { env: { TEST_KUBECONFIG: plane.kubeconfig }, stop: () => plane.stop() }
}

interface CampaignDeps {
  readonly state: CampaignState
  readonly env: Readonly<Record<string, string>>
  readonly onProgress: (line: string) => void
}

class Campaign {
  readonly #deps: CampaignDeps

  constructor(deps: CampaignDeps) {
    this.#deps = deps
  }

  async judgeAll(chosen: readonly Mutant[]): Promise<MutationReport> {
    const judged: Judged[] = []
    const broken = new Set<string>()
    for (const mutant of chosen) {
      const baseline = await this.#baseline(mutant.caughtBy)
      if (baseline.outcome !== 'passed') broken.add(oracleName(mutant.caughtBy))
      const verdict = this.#deps.state.verdict(mutant.id) ?? (await this.#judge(mutant, baseline))
      const isCaught = baseline.outcome === 'passed' && verdict.outcome === 'failed'
      judged.push({ mutant, verdict, isCaught })
      this.#deps.onProgress(`${judged.length}/${chosen.length} ${lineOf(mutant, verdict, isCaught)}`)
    }
    return {
      judged,
      caught: judged.filter(({ isCaught }) => isCaught).length,
      survivors: judged.filter(({ isCaught }) => !isCaught),
      timeouts: judged.filter(({ verdict }) => verdict.outcome === 'timeout').length,
      broken: [...broken],
    }
  }

  async #baseline(oracle: Oracle): Promise<Verdict> {
    const { state, env, onProgress } = this.#deps
    const name = oracleName(oracle)
    const known = state.baseline(name)
    if (known?.outcome === 'passed') return known
    const verdict = await judge(oracle, { env, timeoutMs: BASELINE_MS })
    if (verdict.outcome !== 'passed') onProgress(`${name} fails without a mutant: ${explained(verdict)}`)
    state.keepBaseline(name, verdict)
    return verdict
  }

  async #judge(mutant: Mutant, baseline: Verdict): Promise<Verdict> {
    const { state, env } = this.#deps
    const { file, from, to } = mutant
    const timeoutMs = Math.max(LEAST_PATIENCE_MS, PATIENCE * baseline.ms)
    const verdict = await judge(mutant.caughtBy, { edit: { file, from, to }, env, timeoutMs })
    state.keepVerdict(mutant.id, verdict)
    return verdict
  }
}

function lineOf({ id, what }: Mutant, verdict: Verdict, isCaught: boolean): string {
  const word = isCaught ? 'caught' : 'SURVIVED'
  return `${word} ${id} (${(verdict.ms / 1_000).toFixed(1)} s) ${what} [${explained(verdict)}]`
}

export function explained(verdict: Verdict): string {
  switch (verdict.outcome) {
    case 'passed':
      return 'the oracle passed'
    case 'failed':
      return verdict.by
    case 'timeout':
      return 'the run did not end'
    case 'broken':
      return `no test failed, but the run did: ${verdict.stderr.slice(-300)}`
    default:
      return verdict satisfies never
  }
}

/** The closing line. */
export function summary({ judged, caught, survivors, timeouts }: MutationReport): string {
  const late = timeouts > 0 ? ` (${timeouts} by timeout)` : ''
  return `${judged.length} mutants, ${caught} caught, ${survivors.length} survived${late}`
}
