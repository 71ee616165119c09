/** Builds a ClientConfig from a kubeconfig and the name of a context. */
import { readFile } from 'node:fs/promises'
import { isAbsolute, sep } from 'node:path'
import { fixedCredential } from './client-config.ts'
import type { ClientConfig, Credential, CredentialSource } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { credentialFiles } from './credential-files.ts'
import { execCredential } from './exec-plugin.ts'
import { resolvePath, readKubeconfigs } from './kubeconfig-file.ts'
import type { Entry, Kubeconfig, KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig-file.ts'
import { proxyFor } from './proxy.ts'

export interface KubeconfigOptions {
  /** Default: the file's current context. */
  readonly context?: string
  /** For proxies and exec plugins. Default: the environment of the process. */
  readonly env?: NodeJS.ProcessEnv
}

/** `paths`: one file, or several to merge. */
export async function configFromKubeconfig(
  paths: string | readonly string[],
  { context, env = process.env }: KubeconfigOptions = {},
): Promise<ClientConfig> {
  const kubeconfig = await readKubeconfigs(typeof paths === 'string' ? [paths] : paths)
  const chosen = chooseContext(kubeconfig, context)
  const cluster = await buildClusterConfig(chosen.cluster, chosen.where, env)
  return {
    ...cluster,
    namespace: chosen.namespace,
    credentials: buildCredentials(chosen.user, { where: chosen.where, env, cluster }),
  }
}

interface Chosen {
  readonly cluster: Entry<KubeconfigCluster>
  readonly user: Entry<KubeconfigUser>
  readonly namespace: string
  readonly where: readonly string[]
}

function chooseContext(kubeconfig: Kubeconfig, wanted: string | undefined): Chosen {
  const name = wanted ?? kubeconfig.currentContext
  const files = `kubeconfig ${kubeconfig.files.join(', ')}`
  const known = [...kubeconfig.contexts.keys()].join(', ') || 'none'
  if (!name) throw new ConfigError([files, 'current-context'], `is not set, and no context was given (known: ${known})`)
  const context = kubeconfig.contexts.get(name)
  if (!context) throw new ConfigError([files], `has no context ${JSON.stringify(name)} (known: ${known})`)
  const where = [`kubeconfig ${context.file}`, `context ${name}`]
  return {
    cluster: findEntry(kubeconfig.clusters, context.value, 'cluster', where),
    user: context.value.user
      ? findEntry(kubeconfig.users, context.value, 'user', where)
      : { file: context.file, value: {} },
    namespace: context.value.namespace || 'default',
    where,
  }
}

function findEntry<T>(
  entries: ReadonlyMap<string, Entry<T>>,
  context: KubeconfigContext,
  field: 'cluster' | 'user',
  where: readonly string[],
): Entry<T> {
  const name = context[field]
  if (!name) throw new ConfigError([...where, field], 'is not set')
  const entry = entries.get(name)
  if (!entry) throw new ConfigError([...where, field], `${JSON.stringify(name)} is not defined in ${field}s`)
  return entry
}

type ClusterConfig = Omit<ClientConfig, 'namespace' | 'credentials'>

async function buildClusterConfig(
  { file, value }: Entry<KubeconfigCluster>,
  where: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ClusterConfig> {
  const at = [...where, 'cluster']
  const server = checkServer(value.server, at)
  const ca = await readCa(file, value, at)
  const proxyUrl = value['proxy-url'] || proxyFor(server, env)
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(value['tls-server-name'] ? { tlsServerName: value['tls-server-name'] } : {}),
    ...(value['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  }
}

function checkServer(server: string | undefined, where: readonly string[]): string {
  if (!server) throw new ConfigError([...where, 'server'], 'is not set')
  const url = URL.parse(server)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError([...where, 'server'], `${JSON.stringify(server)} is not an http(s) URL`)
  }
  return server
}

async function readCa(file: string, cluster: KubeconfigCluster, where: readonly string[]): Promise<string | undefined> {
  const data = cluster['certificate-authority-data']
  if (data) return decodePem(data, [...where, 'certificate-authority-data'])
  const path = cluster['certificate-authority']
  if (!path) return undefined
  const whole = resolvePath(file, path)
  try {
    return await readFile(whole, 'utf8')
  } catch (error) {
    throw new ConfigError([...where, 'certificate-authority'], `cannot read ${whole}`, error)
  }
}

interface UserContext {
  readonly where: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly cluster: ClusterConfig
}

function buildCredentials(
  { file, value }: Entry<KubeconfigUser>,
  { where, env, cluster }: UserContext,
): CredentialSource {
  const at = [...where, 'user']
  rejectUnsupported(value, at)
  if (value.exec) {
    const { command } = value.exec
    const isPath = command?.includes(sep) && !isAbsolute(command)
    const exec = isPath ? { ...value.exec, command: resolvePath(file, command) } : value.exec
    return execCredential(exec, { where: [...at, 'exec'], env, cluster: describeCluster(cluster) })
  }
  const fixed = inlineCredential(value, at)
  const files = credentialPaths(file, value)
  if ((fixed.cert ?? files.cert) && !(fixed.key ?? files.key))
    throw new ConfigError([...at, 'client-key'], 'is not set')
  return Object.keys(files).length === 0 ? fixedCredential(fixed) : credentialFiles(files, fixed)
}

/** Ignoring these fields would mean to act with another identity. */
function rejectUnsupported(user: KubeconfigUser, where: readonly string[]): void {
  for (const field of ['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra']) {
    if (field in user) throw new ConfigError([...where, field], 'is not supported: use a certificate, a token or exec')
  }
}

/** Inline data takes precedence over files, except that a token file, which is kept fresh, takes precedence over a token. */
function inlineCredential(user: KubeconfigUser, where: readonly string[]): Credential {
  const cert = user['client-certificate-data']
  const key = user['client-key-data']
  return {
    ...(user.token ? { token: user.token } : {}),
    ...(cert ? { cert: decodePem(cert, [...where, 'client-certificate-data']) } : {}),
    ...(key ? { key: decodePem(key, [...where, 'client-key-data']) } : {}),
  }
}

function credentialPaths(file: string, user: KubeconfigUser): { token?: string; cert?: string; key?: string } {
  const cert = user['client-certificate-data'] ? undefined : user['client-certificate']
  const key = user['client-key-data'] ? undefined : user['client-key']
  return {
    ...(user.tokenFile ? { token: resolvePath(file, user.tokenFile) } : {}),
    ...(cert ? { cert: resolvePath(file, cert) } : {}),
    ...(key ? { key: resolvePath(file, key) } : {}),
  }
}

function decodePem(base64: string, where: readonly string[]): string {
  const text = Buffer.from(base64, 'base64').toString('utf8')
  if (!text.includes('-----BEGIN')) throw new ConfigError(where, 'is not a base64-encoded PEM')
  return text
}

function describeCluster({ server, ca, tlsServerName, insecureSkipTlsVerify, proxyUrl }: ClusterConfig): object {
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': insecureSkipTlsVerify,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'proxy-url': proxyUrl,
  }
}
