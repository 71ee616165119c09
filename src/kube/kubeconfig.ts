/** From a kubeconfig and the name of a context to a ClientConfig. */
import { readFile } from 'node:fs/promises'
import { isAbsolute, sep } from 'node:path'
import { fixedCredential } from './client-config.ts'
import type { ClientConfig, Credential, CredentialSource } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { credentialFiles } from './credential-files.ts'
import { execCredential } from './exec-plugin.ts'
import { besideFile, readKubeconfigs } from './kubeconfig-file.ts'
import type { Entry, Kubeconfig, KubeconfigCluster, KubeconfigContext, KubeconfigUser } from './kubeconfig-file.ts'
import { proxyFor } from './proxy.ts'

export interface KubeconfigOptions {
  /** Default: the file's current context. */
  readonly context?: string
  /** For proxies and for the programs that give credentials. Default: the process's own. */
  readonly env?: NodeJS.ProcessEnv
}

/** `paths`: one file, or several to be merged. */
export async function configFromKubeconfig(
  paths: string | readonly string[],
  { context, env = process.env }: KubeconfigOptions = {},
): Promise<ClientConfig> {
  const kubeconfig = await readKubeconfigs(typeof paths === 'string' ? [paths] : paths)
  const chosen = chosenContext(kubeconfig, context)
  const cluster = await clusterConfig(chosen.cluster, chosen.where, env)
  return {
    ...cluster,
    namespace: chosen.namespace,
    credentials: userCredentials(chosen.user, { where: chosen.where, env, cluster }),
  }
}

interface Chosen {
  readonly cluster: Entry<KubeconfigCluster>
  readonly user: Entry<KubeconfigUser>
  readonly namespace: string
  readonly where: readonly string[]
}

function chosenContext(kubeconfig: Kubeconfig, wanted: string | undefined): Chosen {
  const name = wanted ?? kubeconfig.currentContext
  const files = `kubeconfig ${kubeconfig.files.join(', ')}`
  const known = [...kubeconfig.contexts.keys()].join(', ') || 'none'
  if (!name)
    throw new ConfigError([files, 'current-context'], `is not set, and no context was asked for (known: ${known})`)
  const context = kubeconfig.contexts.get(name)
  if (!context) throw new ConfigError([files], `has no context ${JSON.stringify(name)} (known: ${known})`)
  const where = [`kubeconfig ${context.file}`, `context ${name}`]
  return {
    cluster: referred(kubeconfig.clusters, context.value, 'cluster', where),
    user: context.value.user
      ? referred(kubeconfig.users, context.value, 'user', where)
      : { file: context.file, value: {} },
    namespace: context.value.namespace || 'default',
    where,
  }
}

function referred<T>(
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

async function clusterConfig(
  { file, value }: Entry<KubeconfigCluster>,
  where: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ClusterConfig> {
  const at = [...where, 'cluster']
  const server = checkedServer(value.server, at)
  const ca = await caOf(file, value, at)
  const proxyUrl = value['proxy-url'] || proxyFor(server, env)
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(value['tls-server-name'] ? { tlsServerName: value['tls-server-name'] } : {}),
    ...(value['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
  }
}

function checkedServer(server: string | undefined, where: readonly string[]): string {
  if (!server) throw new ConfigError([...where, 'server'], 'is not set')
  const url = URL.parse(server)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError([...where, 'server'], `${JSON.stringify(server)} is not an http(s) URL`)
  }
  return server
}

async function caOf(file: string, cluster: KubeconfigCluster, where: readonly string[]): Promise<string | undefined> {
  const data = cluster['certificate-authority-data']
  if (data) return decoded(data, [...where, 'certificate-authority-data'])
  const path = cluster['certificate-authority']
  if (!path) return undefined
  const whole = besideFile(file, path)
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

function userCredentials(
  { file, value }: Entry<KubeconfigUser>,
  { where, env, cluster }: UserContext,
): CredentialSource {
  const at = [...where, 'user']
  refuseUnsupported(value, at)
  if (value.exec) {
    const { command } = value.exec
    const isPath = command?.includes(sep) && !isAbsolute(command)
    const exec = isPath ? { ...value.exec, command: besideFile(file, command) } : value.exec
    return execCredential(exec, { where: [...at, 'exec'], env, cluster: execCluster(cluster) })
  }
  const fixed = fixedPart(value, at)
  const files = filePart(file, value)
  if ((fixed.cert ?? files.cert) && !(fixed.key ?? files.key))
    throw new ConfigError([...at, 'client-key'], 'is not set')
  return Object.keys(files).length === 0 ? fixedCredential(fixed) : credentialFiles(files, fixed)
}

/** To go on without them would be to act as somebody else. */
function refuseUnsupported(user: KubeconfigUser, where: readonly string[]): void {
  for (const field of ['auth-provider', 'username', 'password', 'as', 'as-uid', 'as-groups', 'as-user-extra']) {
    if (field in user) throw new ConfigError([...where, field], 'is not supported: use a certificate, a token or exec')
  }
}

/** Data wins over files, except that a token file, being the one that is kept fresh, wins over a token. */
function fixedPart(user: KubeconfigUser, where: readonly string[]): Credential {
  const cert = user['client-certificate-data']
  const key = user['client-key-data']
  return {
    ...(user.token ? { token: user.token } : {}),
    ...(cert ? { cert: decoded(cert, [...where, 'client-certificate-data']) } : {}),
    ...(key ? { key: decoded(key, [...where, 'client-key-data']) } : {}),
  }
}

function filePart(file: string, user: KubeconfigUser): { token?: string; cert?: string; key?: string } {
  const cert = user['client-certificate-data'] ? undefined : user['client-certificate']
  const key = user['client-key-data'] ? undefined : user['client-key']
  return {
    ...(user.tokenFile ? { token: besideFile(file, user.tokenFile) } : {}),
    ...(cert ? { cert: besideFile(file, cert) } : {}),
    ...(key ? { key: besideFile(file, key) } : {}),
  }
}

function decoded(base64: string, where: readonly string[]): string {
  const text = Buffer.from(base64, 'base64').toString('utf8')
  if (!text.includes('-----BEGIN')) throw new ConfigError(where, 'is not base64 of a PEM')
  return text
}

function execCluster({ server, ca, tlsServerName, insecureSkipTlsVerify, proxyUrl }: ClusterConfig): object {
  return {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': insecureSkipTlsVerify,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'proxy-url': proxyUrl,
  }
}
