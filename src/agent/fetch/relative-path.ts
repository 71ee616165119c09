/** Names of remote files become paths below a directory, and nothing else. */
import { FetchError } from './error.ts'

/** Where the state of a fetch is kept, beside the model's files. */
export const STATE_DIRECTORY = '.fetch'

/** The name itself if it is a path that stays below the directory it is joined to; else an error that names it. */
export function relativePath(name: string): string {
  const parts = name.split('/')
  const isSafe = parts.every((part) => part !== '' && part !== '.' && part !== '..' && part !== STATE_DIRECTORY)
  if (isSafe && !name.includes('\0') && !name.includes('\\')) return name
  throw new FetchError(
    'Invalid',
    `the source has a file named ${JSON.stringify(name)}, which is no path below the model's directory: rename it at the source`,
  )
}
