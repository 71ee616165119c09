/** Checks that the name of a remote file is a path below a directory. */
import { TransferError } from './error.ts'

/** The directory for the state of a fetch, beside the files of the model. */
export const STATE_DIRECTORY = '.fetch'

/** Whether the name, joined to a directory, is a path below it. */
export function isRelativePath(name: string): boolean {
  const isSafe = name.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  return isSafe && !name.includes('\0') && !name.includes('\\')
}

/** Returns the name unchanged, or throws if it is not a path below the directory it is joined to. */
export function relativePath(name: string): string {
  if (isRelativePath(name) && !name.split('/').includes(STATE_DIRECTORY)) return name
  throw new TransferError(
    'Invalid',
    `the source has a file named ${JSON.stringify(name)}, which is not a path below the model's directory: rename it at the source`,
  )
}
