/**
 * A process that tears a cluster down after the process that started it has ended. Its standard input is a pipe from the caller,
 * which closes when the caller ends, even by SIGKILL.
 */

import { spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { Socket } from 'node:net'

import { tearDown } from './run-directory.ts'

/** Tears the cluster down when this process ends. */
export function startReaper(runDirectory: string): void {
  const child = spawn(process.execPath, [import.meta.filename, runDirectory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.unref()
  // A pipe is a socket; it must not keep the caller alive either.
  if (child.stdin instanceof Socket) child.stdin.unref()
}

if (import.meta.main) {
  const [, , runDirectory] = process.argv
  if (runDirectory === undefined) throw new Error('usage: reaper.ts RUN_DIRECTORY')
  // Signals to the caller's process group must not end the clean-up.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.stdin.resume().once('close', () => void tearDown(runDirectory))
  // Exits when the cluster was torn down by another process.
  watch(runDirectory, () => existsSync(runDirectory) || process.exit())
}
