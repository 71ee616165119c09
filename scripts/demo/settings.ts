/** What can be said about a run of the demo, all of it by environment variables. */

import { cacheDirectory } from '../../testenv/cache-directory.ts'

export interface Settings {
  /** Leaves out what takes long: the pace for watching, the killed worker, the second version. */
  readonly fast: boolean
  /** The only namespace that is touched in a cluster of your own. */
  readonly namespace: string
  /** A cluster of your own, with the operator in it; one is started on this machine if absent. */
  readonly kubeconfig?: string
  /** Where a run remembers which cluster it started. */
  readonly directory: string
}

export const VARIABLES = `  DEMO_FAST=1            leave out the slow parts
  DEMO_KUBECONFIG=FILE   use that cluster, and in it only the namespace below
  DEMO_NAMESPACE=NAME    ml-demo if absent
`

export function settingsFrom(env: NodeJS.ProcessEnv): Settings {
  const kubeconfig = env['DEMO_KUBECONFIG']
  return {
    fast: env['DEMO_FAST'] === '1' || env['DEMO_FAST'] === 'true',
    namespace: env['DEMO_NAMESPACE'] || 'ml-demo',
    ...(kubeconfig && { kubeconfig }),
    directory: env['DEMO_DIRECTORY'] || cacheDirectory('demo'),
  }
}
