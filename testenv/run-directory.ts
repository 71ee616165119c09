/**
 * A run directory contains all files of one cluster. Its path is in the environment of the cluster's processes and their children,
 * which identifies them. Tearing down needs only the path, so it works after a crash as well.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { hasErrorCode } from './error-code.ts'
import { cgroupProcesses, removeCgroups } from './cgroup.ts'
import { unregister } from './registry.ts'

export const MARK = 'ML_OPERATOR_CLUSTER'
export const RUN_PREFIX = 'mlk-'

/** Short, because unix socket paths below it may have 107 characters at most. */
export function createRunDirectory(): string {
  return mkdtempSync(join(realpathSync(tmpdir()), RUN_PREFIX))
}

export function subdirectory(runDirectory: string, ...parts: string[]): string {
  const path = join(runDirectory, ...parts)
  mkdirSync(path, { recursive: true })
  return path
}

/** Ends every process of the run and removes what it left: cgroups and the directory. Safe to call again. */
export async function tearDown(runDirectory: string): Promise<void> {
  for (let left = processesOf(runDirectory); left.length > 0; left = processesOf(runDirectory)) {
    for (const pid of left) endProcess(pid)
    await delay(20)
  }
  await removeCgroups(runDirectory)
  if (existsSync(runDirectory)) rmSync(runDirectory, { recursive: true, force: true, maxRetries: 5 })
  unregister(runDirectory)
}

/** The processes with the run's mark, and those of its pods, which have another environment. */
export function processesOf(runDirectory: string): number[] {
  const mark = `${MARK}=${runDirectory}`
  const marked = process.platform === 'linux' ? markedInProc(mark) : markedByPs(mark)
  return [...marked, ...cgroupProcesses(runDirectory)].filter((pid) => pid !== process.pid)
}

function markedInProc(mark: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => environmentOf(pid).includes(mark))
    .map(Number)
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

function markedByPs(mark: string): number[] {
  const lines = execFileSync('ps', ['-Aww', '-E', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line.split(' ').includes(mark)).map((line) => Number.parseInt(line, 10))
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!hasErrorCode(error, 'ESRCH')) throw error
  }
}
