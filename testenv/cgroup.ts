import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { hasErrorCode } from './error-code.ts'

/**
 * The node's pods run below one cgroup, named after the run directory, in every hierarchy of the machine (one with cgroup v2, one
 * per controller with v1). So they can be found and removed without the kubelet.
 */

const MOUNT = '/sys/fs/cgroup'

export function cgroupName(runDirectory: string): string {
  return basename(runDirectory)
}

export function createCgroups(runDirectory: string): void {
  for (const hierarchy of hierarchies()) {
    const path = join(hierarchy, cgroupName(runDirectory))
    mkdirSync(path, { recursive: true })
    inheritCpuset(hierarchy, path)
  }
}

/** The processes of the node's pods. */
export function cgroupProcesses(runDirectory: string): number[] {
  return hierarchies()
    .map((hierarchy) => join(hierarchy, cgroupName(runDirectory)))
    .filter((root) => existsSync(root))
    .flatMap(deepestFirst)
    .flatMap((path) => readLines(join(path, 'cgroup.procs')))
    .map(Number)
}

export async function removeCgroups(runDirectory: string): Promise<void> {
  for (const hierarchy of hierarchies()) {
    const root = join(hierarchy, cgroupName(runDirectory))
    for (let attempt = 0; existsSync(root) && attempt < 100; attempt++) {
      for (const path of deepestFirst(root)) removeIfEmpty(path)
      if (existsSync(root)) await delay(50)
    }
  }
}

function hierarchies(): string[] {
  if (existsSync(join(MOUNT, 'cgroup.controllers'))) return [MOUNT]
  if (!existsSync(MOUNT)) return []
  return readdirSync(MOUNT)
    .map((name) => join(MOUNT, name))
    .filter((path) => existsSync(join(path, 'cgroup.procs')))
}

/** A new v1 cpuset has no CPU and no memory node, and would reject every process. */
function inheritCpuset(hierarchy: string, path: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const own = join(path, file)
    if (basename(hierarchy) === 'cpuset' && existsSync(own)) writeFileSync(own, readFileSync(join(hierarchy, file)))
  }
}

function deepestFirst(root: string): string[] {
  const below = readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
  return [root, ...below].toSorted((a, b) => b.length - a.length)
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    if (!hasErrorCode(error, 'EBUSY', 'ENOENT', 'ENOTEMPTY')) throw error
  }
}
