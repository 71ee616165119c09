/**
 * Finds the address of the API server and the credentials as kubectl users expect: the given file, else `$KUBECONFIG`,
 * else the pod's service account, else `~/.kube/config`.
 */
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ClientConfig } from './client-config.ts'
import { inClusterConfig, isInCluster } from './in-cluster.ts'
import { configFromKubeconfig } from './kubeconfig.ts'

export type { ClientConfig, Credential, CredentialSource } from './client-config.ts'
export { fixedCredential } from './client-config.ts'
export { ConfigError } from './config-error.ts'
export { inClusterConfig } from './in-cluster.ts'
export { configFromKubeconfig } from './kubeconfig.ts'

export interface LoadOptions {
  /** A kubeconfig file; overrides the environment. */
  readonly kubeconfig?: string
  /** A context of the kubeconfig; default: its current one. */
  readonly context?: string
  readonly env?: NodeJS.ProcessEnv
}

export async function loadConfig({ kubeconfig, context, env = process.env }: LoadOptions = {}): Promise<ClientConfig> {
  const options = context === undefined ? { env } : { env, context }
  if (kubeconfig !== undefined) return configFromKubeconfig(kubeconfig, options)
  const listed = (env.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (listed.length > 0) return configFromKubeconfig(listed, options)
  if (isInCluster(env) && context === undefined) return inClusterConfig({ env })
  return configFromKubeconfig(join(env.HOME ?? homedir(), '.kube', 'config'), options)
}
