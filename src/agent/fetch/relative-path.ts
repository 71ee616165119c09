/** Checks that the name of a remote file is a path below a directory. */
import { FetchError } from './error.ts'

/** The directory for the state of a fetch, beside the files of the model. */
export const STATE_DIRECTORY = '.fetch'

/** Returns the name unchanged, or throws if it is not a path below the directory it is joined to. */
export function relativePath(name: string): string {
  const parts = name.split('/')
  const isSafe = parts.every((part) => part !== '' && part !== '.' && part !== '..' && part !== STATE_DIRECTORY)
  if (isSafe && !name.includes('\0') && !name.includes('\\')) return name
  throw new FetchError(
    'Invalid',
    `the source has a file named ${JSON.stringify(name)}, which is not a path below the model's directory: rename it at the source`,
  )
}
