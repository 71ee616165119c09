/**
 * Where the API server is and who we are there, found the way users of Kubernetes expect: a file that was asked for,
 * then `$KUBECONFIG`, then the pod's service account, then `~/.kube/config`.
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
  /** A file to use, whatever the environment says. */
  readonly kubeconfig?: string
  /** A context other than the current one; only a kubeconfig has any. */
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
