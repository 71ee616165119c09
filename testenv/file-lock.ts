import { randomUUID } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

import { hasErrorCode } from './error-code.ts'

/**
 * Runs `work` while holding the lock file `path`, so that two processes don't do the same long work side by side.
 * A lock left behind by a process that is gone is taken over. The lock saves time; it is not what keeps results
 * whole: work guarded by it must still publish with an atomic rename.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, what: string): Promise<T> {
  let told = false
  while (!(await tryLock(path))) {
    const holder = await holderOf(path)
    if (holder === undefined || !isAlive(holder)) {
      await rm(path, { force: true })
      continue
    }
    if (!told) process.stderr.write(`waiting for process ${holder}, which makes ${what}\n`)
    told = true
    await delay(250)
  }
  try {
    return await work()
  } finally {
    await rm(path, { force: true })
  }
}

/** The lock appears together with its holder's pid: a link to a file that is already written. */
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
