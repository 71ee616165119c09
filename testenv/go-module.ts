/** Files of Go modules that other projects publish, of a pinned version and verified by its digest. */

import { runCommand } from './command.ts'

export interface GoModule {
  readonly module: string
  readonly version: string
  /** As `go.sum` has it. */
  readonly sum: string
}

/** The directory of the module, in Go's own cache. Fetched if it is missing. */
export async function moduleDirectory({ module, version, sum }: GoModule): Promise<string> {
  const answer = await runCommand(['go', 'mod', 'download', '-json', `${module}@${version}`], {
    env: { ...process.env, GOWORK: 'off' },
  })
  const { Dir, Sum } = JSON.parse(answer) as { readonly Dir: string; readonly Sum: string }
  if (Sum !== sum) throw new Error(`${module}@${version} has the sum ${Sum}, expected ${sum}`)
  return Dir
}
