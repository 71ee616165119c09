import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

import { hasErrorCode } from './error-code.ts'

/**
 * Runs `work` while holding the lock file `path`, so that two processes don't do the same long work at once. A lock of a process
 * that has ended is taken over. The lock only saves time: the work must still publish its result with an atomic rename.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, what: string): Promise<T> {
  let hasReported = false
  while (!(await tryLock(path))) {
    const holder = await holderOf(path)
    if (holder === undefined || !isAlive(holder)) {
      await rm(path, { force: true })
      continue
    }
    if (!hasReported) process.stderr.write(`waiting for process ${holder}, which builds ${what}\n`)
    hasReported = true
    await delay(250)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

/** Creates the lock with its holder's pid atomically, as a link to a file that is already written. */
async function tryLock(path: string): Promise<boolean> {
  const mine = `${path}.${randomUUID()}`
  await writeFile(mine, String(process.pid))
  try {
    await link(mine, path)
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(mine, { force: true })
  }
}

async function holderOf(path: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(path, 'utf8').catch(() => ''), 10)
  return Number.isNaN(pid) ? undefined : pid
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}
