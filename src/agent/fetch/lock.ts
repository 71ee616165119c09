/**
 * One fetch at a time into a directory, so that pods that share a volume don't each download the model.
 *
 * The lock saves work; it does not keep the result whole. Parts are named by their content and put in place by one rename,
 * so two that hold the lock at once, as may happen after a pause or when a lock is taken over twice, do nothing worse
 * than the same work.
 *
 * A holder that is gone is known by its silence: it says every few seconds that it lives, and those who wait measure the
 * silence by their own clocks. One on the same host is asked for at once by its process id and start, so that a restarted
 * container goes on without waiting for itself.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

import { sleep } from '../../kube/sleep.ts'
import { codeOf } from './error.ts'

interface Holder {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly started: string
  readonly beat: number
}

export interface LockTimes {
  readonly beatMs: number
  readonly silenceMs: number
  readonly pollMs: number
}

const defaultTimes: LockTimes = { beatMs: 5_000, silenceMs: 30_000, pollMs: 1_000 }

export interface LockOptions {
  readonly signal: AbortSignal
  readonly log: (line: string) => void
  readonly times?: LockTimes
}

export async function withLock<T>(state: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const path = join(state, 'lock')
  const me: Holder = { id: randomUUID(), host: hostname(), pid: process.pid, started: await startOf('self'), beat: 0 }
  const times = options.times ?? defaultTimes
  await acquired(path, me, { ...options, times })
  const beating = setInterval(() => void sayAlive(path, me.id).catch(() => {}), times.beatMs)
  try {
    return await work()
  } finally {
    clearInterval(beating)
    const holder = await read(path)
    if (holder?.id === me.id) await rm(path, { force: true })
  }
}

/** Says so, unless another has taken the lock over. */
async function sayAlive(path: string, id: string): Promise<void> {
  const holder = await read(path)
  if (holder?.id === id) await writeFile(path, JSON.stringify({ ...holder, beat: holder.beat + 1 }))
}

async function acquired(path: string, me: Holder, { signal, log, times }: Required<LockOptions>): Promise<void> {
  let seen = { text: '', since: performance.now() }
  let told = ''
  while (!(await isCreated(path, me))) {
    signal.throwIfAborted()
    const holder = await read(path)
    const text = JSON.stringify(holder ?? null)
    if (text !== seen.text) seen = { text, since: performance.now() }
    if ((await isGone(holder)) || performance.now() - seen.since > times.silenceMs) {
      await rm(path, { force: true })
      continue
    }
    if (holder !== undefined && told !== holder.id)
      log(`waiting for ${holder.host}, which fetches into the same volume`)
    told = holder?.id ?? told
    await sleep(times.pollMs, signal)
  }
}

async function isCreated(path: string, me: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(me), { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Known for sure only of this host. */
async function isGone(holder: Holder | undefined): Promise<boolean> {
  if (holder?.host !== hostname()) return false
  return (await startOf(holder.pid)) !== holder.started
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

/** When the process started, in ticks since the boot; process ids alone repeat, and in a container they are all 1. */
async function startOf(pid: number | 'self'): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
