import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The user's cache directory for this project, created on first use: `$XDG_CACHE_HOME/ml-operator/...`. */
export function cacheDirectory(...parts: string[]): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const directory = join(root, 'ml-operator', ...parts)
  mkdirSync(directory, { recursive: true })
  return directory
}
