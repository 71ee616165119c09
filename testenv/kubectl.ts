import type { Binaries } from './binaries.ts'
import { runCommand } from './command.ts'

export interface Kubectl {
  (...args: string[]): Promise<string>
  /** Passes objects to a verb such as `create` or `apply --server-side`. */
  with(objects: readonly object[], ...args: string[]): Promise<string>
}

/** kubectl of the cluster's version, with a kubeconfig. */
export function kubectlFor(binaries: Binaries, kubeconfig: string): Kubectl {
  const command = (args: readonly string[]): string[] => [binaries.path('kubectl'), '--kubeconfig', kubeconfig, ...args]
  const run = (...args: string[]): Promise<string> => runCommand(command(args))
  return Object.assign(run, {
    with: (objects: readonly object[], ...args: string[]): Promise<string> => {
      const list = { apiVersion: 'v1', kind: 'List', items: objects }
      return runCommand(command([...args, '-f', '-']), { input: JSON.stringify(list) })
    },
  })
}
