/**
 * Sends malformed input to every port and parser. Each target runs in its own process, so that an exit is noticed. A finding
 * can be reproduced by its seed and index.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import type { Finding, Progress } from './finding.ts'
import { targets } from './targets.ts'

export interface FuzzOptions {
  readonly inputs: number
  readonly seed: number
  /** Only targets whose name contains this. */
  readonly target?: string
  readonly onProgress?: (done: number, total: number) => void
}

export interface TargetCounts {
  readonly target: string
  inputs: number
  exits: number
  stalls: number
  /** Errors that the target does not declare. */
  violations: number
}

export interface FuzzResult {
  readonly inputs: number
  readonly exits: number
  readonly stalls: number
  readonly violations: number
  readonly targets: readonly TargetCounts[]
  readonly findings: readonly Finding[]
}

const STEP = 200
/** The minimum for slow targets, which have a small share. */
const FEWEST = 100
/** A target is skipped after this many exits. */
const MOST_EXITS = 20

export async function fuzzCampaign({ inputs, seed, target = '', onProgress }: FuzzOptions): Promise<FuzzResult> {
  const chosen = targets.filter(({ name }) => name.includes(target))
  const shares = chosen.reduce((all, { share }) => all + share, 0)
  const findings: Finding[] = []
  const counts: TargetCounts[] = []
  const waiting = chosen.map(({ name, share }) => ({
    name,
    inputs: Math.ceil(Math.max(inputs * (share / shares), Math.min(inputs / chosen.length, FEWEST))),
  }))
  const total = waiting.reduce((all, part) => all + part.inputs, 0)
  const note = (count: TargetCounts, progress: Progress): void => {
    count.inputs = progress.done
    for (const finding of progress.findings) {
      findings.push(finding)
      if (finding.kind === 'exit') count.exits += 1
      else if (finding.kind === 'stall') count.stalls += 1
      else count.violations += 1
    }
    onProgress?.(sum(counts, 'inputs'), total)
  }
  const work = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const count: TargetCounts = { target: part.name, inputs: 0, exits: 0, stalls: 0, violations: 0 }
      counts.push(count)
      await runTarget(part.name, part.inputs, seed, (progress) => note(count, progress))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return {
    inputs: sum(counts, 'inputs'),
    exits: sum(counts, 'exits'),
    stalls: sum(counts, 'stalls'),
    violations: sum(counts, 'violations'),
    targets: counts,
    findings,
  }
}

/** Runs one target. After an exit, runs single inputs until the one that caused it is found, and continues after it. */
async function runTarget(
  name: string,
  inputs: number,
  seed: number,
  note: (progress: Progress) => void,
): Promise<void> {
  let done = 0
  let stepUntil = 0
  let exits = 0
  while (done < inputs && exits < MOST_EXITS) {
    const to = done < stepUntil ? stepUntil : inputs
    const ended = await attempt({ name, seed, from: done, to, step: done < stepUntil ? 1 : STEP }, (progress) => {
      done = progress.done
      note(progress)
    })
    if (ended === 0) continue
    if (done < stepUntil) {
      const message = `the process exited with ${ended}`
      note({ done: done + 1, findings: [{ kind: 'exit', target: name, index: done, message, input: '' }] })
      done += 1
      exits += 1
    } else stepUntil = Math.min(inputs, done + STEP)
  }
}

interface Attempt {
  readonly name: string
  readonly seed: number
  readonly from: number
  readonly to: number
  readonly step: number
}

async function attempt({ name, seed, from, to, step }: Attempt, note: (progress: Progress) => void): Promise<number> {
  const args = [name, seed, from, to, step].map(String)
  const child = fork(new URL('runner.ts', import.meta.url), args, {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  child.on('message', (progress: Progress) => note(progress))
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

function sum(counts: readonly TargetCounts[], what: 'inputs' | 'exits' | 'stalls' | 'violations'): number {
  return counts.reduce((total, count) => total + count[what], 0)
}
