/** Campaigns that are not made of fault plans. Each runs as a whole and is recorded when it has ended. */
import { fuzzCampaign } from '../../fuzz/campaign.ts'
import { explained, mutationCampaign } from '../../mutants/campaign.ts'
import { handEditCampaign, poisonCampaign, transitionCampaign } from '../../objects/campaign.ts'
import type { Journal, PartRecord } from './journal.ts'

export interface PartOptions {
  readonly kubeconfig: string
  readonly seed: number
  /** Where a part may store its own progress. */
  readonly stateFile: string
  readonly onProgress: (line: string) => void
}

export interface Part {
  readonly name: string
  readonly what: string
  readonly run: (options: PartOptions) => Promise<Pick<PartRecord, 'figures' | 'violations'>>
}

/** The share of mutants that must be caught. */
const CAUGHT_SHARE = 0.95

async function mutants({ seed, stateFile, onProgress }: PartOptions): ReturnType<Part['run']> {
  const { judged, caught, survivors, broken } = await mutationCampaign({ seed, stateFile, onProgress })
  const share = caught / judged.length
  const survived = survivors.map(({ mutant, verdict }) => `${mutant.id} survived: ${explained(verdict)}`)
  return {
    figures: { mutants: judged.length, caught, survived: survivors.length, 'caught, %': Math.round(share * 1000) / 10 },
    violations: [...broken.map((name) => `${name} fails without a mutant`), ...(share < CAUGHT_SHARE ? survived : [])],
  }
}

const INPUTS = 1_000_000

async function fuzz({ seed, onProgress }: PartOptions): ReturnType<Part['run']> {
  const progress = (done: number, total: number): void => onProgress(`${done}/${total} inputs`)
  const { inputs, exits, stalls, targets, findings } = await fuzzCampaign({
    inputs: INPUTS,
    seed,
    onProgress: progress,
  })
  return {
    figures: { inputs, targets: targets.length, exits, stalls },
    violations: findings.map(({ kind, target, index, message }) => `${kind}: ${target}, input ${index}: ${message}`),
  }
}

const POISON = 50_000

async function poison({ kubeconfig, seed, stateFile, onProgress }: PartOptions): ReturnType<Part['run']> {
  const report = await poisonCampaign({ kubeconfig, seed, objects: POISON, stateFile, onProgress })
  return { figures: figuresOf(report), violations: report.violations }
}

async function transitions({ kubeconfig, seed, stateFile, onProgress }: PartOptions): ReturnType<Part['run']> {
  const report = await transitionCampaign({ kubeconfig, seed, stateFile, onProgress })
  return { figures: figuresOf(report), violations: report.violations }
}

async function handEdits({ kubeconfig, seed, onProgress }: PartOptions): ReturnType<Part['run']> {
  const report = await handEditCampaign({ kubeconfig, seed, onProgress })
  return { figures: { edits: report.edits, ...report.verdicts }, violations: report.violations }
}

export const parts: readonly Part[] = [
  { name: 'hand-edits', what: 'every field of every child edited by hand', run: handEdits },
  { name: 'transitions', what: 'every leaf of every schema changed, then reverted', run: transitions },
  { name: 'poison', what: 'valid objects at the edges of their schemas', run: poison },
  { name: 'fuzz', what: 'malformed input for every port and parser', run: fuzz },
  { name: 'mutants', what: 'planted bugs that oracles must catch', run: mutants },
]

/** Runs the parts that are not in the journal. */
export async function runParts(
  wanted: readonly Part[],
  journal: Journal,
  options: Omit<PartOptions, 'stateFile'> & { readonly stateFile: (part: string) => string },
): Promise<void> {
  const done = new Set(journal.parts.map(({ name }) => name))
  for (const { name, run } of wanted.filter((part) => !done.has(part.name))) {
    const began = Date.now()
    const onProgress = (line: string): void => options.onProgress(`${name}: ${line}`)
    const { figures, violations } = await run({ ...options, stateFile: options.stateFile(name), onProgress })
    journal.record({ type: 'part', name, figures, violations, ms: Date.now() - began })
  }
}

/** The numbers of a report. */
export function figuresOf(report: object): Record<string, number> {
  const numbers = Object.entries(report).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return Object.fromEntries(numbers.map(([name, value]) => [worded(name), Math.round(value * 10) / 10]))
}

/** `longestTurnMs` → `longest turn ms` */
const worded = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
