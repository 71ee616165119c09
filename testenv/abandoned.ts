/**
 * Clusters that no process will remove any more: their reaper was killed too, for example by a crash of the machine. A cluster that
 * `up` started is registered and not abandoned.
 */

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { registeredRuns } from './registry.ts'
import { RUN_PREFIX } from './run-directory.ts'

/** A new run has a directory before it has a reaper. */
const STARTING_MS = 60_000

export function abandonedRuns(now = Date.now()): string[] {
  const parent = realpathSync(tmpdir())
  const kept = new Set([...registeredRuns(), ...runsWithReaper()])
  return readdirSync(parent)
    .filter((name) => name.startsWith(RUN_PREFIX))
    .map((name) => join(parent, name))
    .filter(
      (path) => !kept.has(path) && now - (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? now) > STARTING_MS,
    )
}

/** The last argument of every running reaper. */
function runsWithReaper(): string[] {
  const processes = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  return processes
    .map((pid) => argumentsOf(pid))
    .filter((words) => words.some((word) => word.endsWith('reaper.ts')))
    .flatMap((words) => words.at(-1) ?? [])
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => word !== '')
  } catch {
    return []
  }
}
