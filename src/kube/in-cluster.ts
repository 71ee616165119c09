import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import type { ClientConfig } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { credentialFiles } from './credential-files.ts'

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'

export function isInCluster(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.KUBERNETES_SERVICE_HOST && env.KUBERNETES_SERVICE_PORT)
}

/** What every pod with a service account is given; the token is re-read each minute, because the kubelet renews it. */
export async function inClusterConfig({
  env = process.env,
  directory = SERVICE_ACCOUNT,
}: { readonly env?: NodeJS.ProcessEnv; readonly directory?: string } = {}): Promise<ClientConfig> {
  if (!isInCluster(env)) {
    throw new ConfigError(
      ['in-cluster configuration'],
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
    )
  }
  const host = env.KUBERNETES_SERVICE_HOST ?? ''
  const credentials = credentialFiles({ token: join(directory, 'token') })
  await credentials() // a pod without a token should say so now, not at its first call
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT}`,
    ca: await mounted(directory, 'ca.crt'),
    namespace: (await mounted(directory, 'namespace')).trim(),
    credentials,
  }
}

async function mounted(directory: string, name: string): Promise<string> {
  const path = join(directory, name)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(['in-cluster configuration', path], 'cannot be read', error)
  }
}
