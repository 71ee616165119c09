/** The process of one target: runs inputs and reports progress by IPC. Started by `campaign.ts`, which notices its exit. */
import { cpuMs, watchCallbacks } from '../timing/callback-time.ts'
import type { Finding, Progress } from './finding.ts'
import { mutated } from './mutation.ts'
import { ExitError, StallError } from './ports.ts'
import { Dice, mixed } from '../random/dice.ts'
import type { Subject, Target } from './target.ts'
import { targets } from './targets.ts'

const STALL_MS = 50
/** A stall must be repeatable: the first run also compiles the code, and garbage collection may run at any time. */
const TRIES = 3

async function run(target: Target, seed: number, { from, to, step }: { from: number; to: number; step: number }) {
  let findings: Finding[] = []
  let subject = await target.start()
  for (let index = from; index < to; index++) {
    const input = mutated(target.seeds, new Dice(mixed(seed, index)), target.maxBytes)
    const found = await judge(subject, input, target.stallMs ?? STALL_MS)
    if (found !== undefined)
      findings.push({ ...found, target: target.name, index, input: input.toString('latin1', 0, 300) })
    if (found?.kind === 'exit') subject = await target.start()
    if ((index + 1 - from) % step !== 0 && index + 1 !== to) continue
    process.send?.({ done: index + 1, findings } satisfies Progress)
    findings = []
  }
  await subject.stop?.()
}

/** The longest single callback since the last input. */
let longestMs = 0
watchCallbacks((ms) => (longestMs = Math.max(longestMs, ms)))

type Verdict = Pick<Finding, 'kind' | 'message'> | undefined

async function judge(subject: Subject, input: Buffer, stallMs: number): Promise<Verdict> {
  for (let tries = 1; ; tries++) {
    const started = cpuMs()
    longestMs = 0
    try {
      const taken = subject.take(input)
      longestMs = Math.max(longestMs, cpuMs() - started)
      await taken
    } catch (error) {
      if (error instanceof StallError && tries < TRIES) continue
      const kind = error instanceof ExitError ? 'exit' : error instanceof StallError ? 'stall' : 'violation'
      return { kind, message: String(error instanceof Error ? error.stack : error).slice(0, 600) }
    }
    if (longestMs <= stallMs) return undefined
    if (tries === TRIES) return { kind: 'stall', message: `${longestMs} ms of CPU time` }
  }
}

const [name, seed, from, to, step] = process.argv.slice(2)
const target = targets.find((one) => one.name === name)
if (target === undefined) throw new Error(`unknown target ${name}`)
await run(target, Number(seed), { from: Number(from), to: Number(to), step: Number(step) })
process.disconnect()
