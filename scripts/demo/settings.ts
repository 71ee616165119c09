/** The settings of the demo, from environment variables. */

import { cacheDirectory } from '../../testenv/cache-directory.ts'

export interface Settings {
  /** Omits the slow parts: the pauses between epochs, the killed worker, the second version. */
  readonly fast: boolean
  /** The only namespace that is changed in an existing cluster. */
  readonly namespace: string
  /** An existing cluster with the operator. Default: a new cluster on this machine. */
  readonly kubeconfig?: string
  /** Where the cluster of the last run is recorded. */
  readonly directory: string
}

export const VARIABLES = `  DEMO_FAST=1            omit the slow parts
  DEMO_KUBECONFIG=FILE   use this cluster, and only the namespace below
  DEMO_NAMESPACE=NAME    namespace (ml-demo)
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
