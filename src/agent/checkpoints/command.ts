/** What the commands for checkpoints share: flags, and the report of a failure in the termination log. */
import { writeFile } from 'node:fs/promises'

import { type CheckpointsResult, checkpointsResultText } from '../../api/checkpoint-result.ts'
import { type Flags, parseInteger, UsageError, type Values } from '../../command/flags.ts'
import type { AgentCall, AgentCommand } from '../commands.ts'
import { ChangedError } from '../transfer/error.ts'

const shared = {
  result: { value: 'FILE', default: '/dev/termination-log', help: 'file for the result, one line of JSON' },
} as const satisfies Flags

export const storageFlag = {
  value: 'ROOT',
  help: 'where the checkpoints are: an absolute directory, s3://bucket/prefix or gs://bucket/prefix',
} as const

export const keepLastFlag = {
  value: 'N',
  default: '0',
  help: 'how many complete checkpoints to keep, the newest ones; 0: all',
} as const

/** The exit code of a process that SIGTERM has ended, as in a shell. */
const TERMINATED = 143

type Work<F extends Flags> = (given: Values<F>, call: AgentCall) => Promise<CheckpointsResult | undefined>

/** A command that writes the result of its work, or its failure, to a file. */
export function checkpointsCommand<F extends Flags>(flags: F, work: Work<F>): AgentCommand {
  const run = async (call: AgentCall): Promise<number> => {
    const { result: file } = call.flags as Values<typeof shared>
    try {
      const result = await work(call.flags as Values<F>, call)
      if (result !== undefined) await report(file, result)
      return 0
    } catch (error) {
      // The pod was terminated: that is no failure.
      if (call.signal.aborted) return TERMINATED
      await report(file, { error: textOf(error) })
      return error instanceof UsageError ? 2 : 1
    }
  }
  return { flags: { ...flags, ...shared }, run }
}

async function report(file: string, result: CheckpointsResult): Promise<void> {
  const text = checkpointsResultText(result)
  printLine(text)
  await writeFile(file, `${text}\n`).catch((error: unknown) => {
    process.stderr.write(`cannot write the result: ${String(error)}\n`)
    // Without its result, a success is not known.
    if (!('error' in result)) throw error
  })
}

export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`--${name} is required`)
  return value
}

export function parseKeepLast(text: string): number {
  return parseInteger('keep-last', text, 0, 10_000)
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function textOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof ChangedError ? `${message}: let no other job write to this storage` : message
}
