/**
 * Outlives the process that started a cluster, and takes the cluster down when that process is gone, however it went.
 * Started with the run directory as argument and a pipe from the caller as standard input: the pipe closes
 * when the caller ends, even by SIGKILL.
 */

import { spawn } from 'node:child_process'
import { existsSync, watch } from 'node:fs'
import { Socket } from 'node:net'

import { tearDown } from './run-directory.ts'

/** Ties the cluster's life to this process. */
export function startReaper(runDirectory: string): void {
  const child = spawn(process.execPath, [import.meta.filename, runDirectory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  child.unref()
  // A pipe is a socket underneath; it must not keep the caller alive either.
  if (child.stdin instanceof Socket) child.stdin.unref()
}

if (import.meta.main) {
  const [, , runDirectory] = process.argv
  if (runDirectory === undefined) throw new Error('usage: reaper.ts RUN_DIRECTORY')
  // Signals sent to the caller's group must not end the one process that cleans up after it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.stdin.resume().once('close', () => void tearDown(runDirectory))
  // Somebody else may take the cluster down; then there is nothing left to watch over.
  watch(runDirectory, () => existsSync(runDirectory) || process.exit())
}
