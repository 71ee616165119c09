/**
 * A lock on a directory, so that pods that share a volume do not all download the model.
 *
 * The lock saves work; correctness does not depend on it. Parts are named by their content and moved into place by one
 * rename, so two holders, as after a pause or a double takeover, only do the same work twice.
 *
 * A holder updates the lock every few seconds. Waiting processes take it over if it has not changed for `silenceMs` of
 * their own clock. A holder on the same host is checked by process id and start time, so that a restarted container does
 * not wait for itself.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

import { sleep } from '../../kube/sleep.ts'
import { codeOf } from '../transfer/error.ts'

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
  const me: Holder = {
    id: randomUUID(),
    host: hostname(),
    pid: process.pid,
    started: await startTimeOf('self'),
    beat: 0,
  }
  const times = options.times ?? defaultTimes
  await acquire(path, me, { ...options, times })
  const beating = setInterval(() => void renew(path, me.id).catch(() => {}), times.beatMs)
  try {
    return await work()
  } finally {
    clearInterval(beating)
    const holder = await read(path)
    if (holder?.id === me.id) await rm(path, { force: true })
  }
}

/** Updates the lock, unless another process has taken it over. */
async function renew(path: string, id: string): Promise<void> {
  const holder = await read(path)
  if (holder?.id === id) await writeFile(path, JSON.stringify({ ...holder, beat: holder.beat + 1 }))
}

async function acquire(path: string, me: Holder, { signal, log, times }: Required<LockOptions>): Promise<void> {
  let observed = { text: '', since: performance.now() }
  let reported = ''
  while (!(await tryCreate(path, me))) {
    signal.throwIfAborted()
    const holder = await read(path)
    const text = JSON.stringify(holder ?? null)
    if (text !== observed.text) observed = { text, since: performance.now() }
    if ((await isGone(holder)) || performance.now() - observed.since > times.silenceMs) {
      await rm(path, { force: true })
      continue
    }
    if (holder !== undefined && reported !== holder.id)
      log(`waiting for ${holder.host}, which is fetching into the same volume`)
    reported = holder?.id ?? reported
    await sleep(times.pollMs, signal)
  }
}

async function tryCreate(path: string, me: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(me), { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Certain only for processes of this host. */
async function isGone(holder: Holder | undefined): Promise<boolean> {
  if (holder?.host !== hostname()) return false
  return (await startTimeOf(holder.pid)) !== holder.started
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

/** Start time of a process, in ticks since boot. Process ids are reused, and in a container the first one is always 1. */
async function startTimeOf(pid: number | 'self'): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
}
