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

/** The configuration of a pod with a service account. Token and CA are reloaded every minute, because both are rotated. */
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
  const credentials = credentialFiles({ token: join(directory, 'token'), ca: join(directory, 'ca.crt') })
  await credentials() // fails now, not at the first call, if the pod has no token or CA
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${env.KUBERNETES_SERVICE_PORT}`,
    namespace: (await readMounted(directory, 'namespace')).trim(),
    credentials,
  }
}

async function readMounted(directory: string, name: string): Promise<string> {
  const path = join(directory, name)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError(['in-cluster configuration', path], 'cannot be read', error)
  }
}
