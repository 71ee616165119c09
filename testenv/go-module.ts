/** A published Go module of a pinned version, verified by its digest, in Go's own cache. */

import { runCommand } from './command.ts'

export interface GoModule {
  readonly module: string
  readonly version: string
  /** As `go.sum` has it. */
  readonly sum: string
}

/** The directory of the module. Its files are read-only. */
export async function downloadModule({ module, version, sum }: GoModule): Promise<string> {
  const answer = await runCommand(['go', 'mod', 'download', '-json', `${module}@${version}`], {
    env: { ...process.env, GOWORK: 'off' },
  })
  const { Dir, Sum } = JSON.parse(answer) as { readonly Dir: string; readonly Sum: string }
  if (Sum !== sum) throw new Error(`${module}@${version} has the sum ${Sum}, expected ${sum}`)
  return Dir
}
