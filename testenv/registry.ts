import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'

/** The registry of persistent runs, from before their first process until they are torn down. */

export function register(runDirectory: string): void {
  writeFileSync(entryOf(runDirectory), runDirectory)
}

export function unregister(runDirectory: string): void {
  rmSync(entryOf(runDirectory), { force: true })
}

export function registeredRuns(): string[] {
  const directory = cacheDirectory('clusters')
  return readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
}

/** The administrator's kubeconfig of a run that started completely. */
export function kubeconfigOf(runDirectory: string): string | undefined {
  const path = join(runDirectory, 'cluster-ready')
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function entryOf(runDirectory: string): string {
  return join(cacheDirectory('clusters'), basename(runDirectory))
}
