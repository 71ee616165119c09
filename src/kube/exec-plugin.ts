/**
 * Credentials from an exec plugin, as in the kubeconfigs of cloud providers (`client.authentication.k8s.io`, v1 and
 * v1beta1). The plugin runs without a terminal, whenever its last credential has expired or was rejected.
 */
import { execFile, type ExecFileException } from 'node:child_process'
import type { Credential, CredentialSource } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { cachedCredential } from './credential-cache.ts'
import type { Loaded } from './credential-cache.ts'

/** The `exec` entry of a kubeconfig user. */
export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
  readonly installHint?: string
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always'
  readonly provideClusterInfo?: boolean
}

export interface ExecContext {
  /** Where the plugin is configured, for error messages. */
  readonly where: readonly string[]
  /** The environment of the plugin. */
  readonly env: NodeJS.ProcessEnv
  /** The `cluster` for plugins with `provideClusterInfo`. */
  readonly cluster: object
  readonly now?: () => number
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']
const TIMEOUT_MS = 60_000
const MAX_OUTPUT = 1024 * 1024
/** Time before its expiry at which a credential is renewed, so that no request is sent with one about to expire. */
const MARGIN_MS = 10_000

export function execCredential(plugin: ExecPlugin, context: ExecContext): CredentialSource {
  if (!versions.includes(plugin.apiVersion)) {
    throw new ConfigError([...context.where, 'apiVersion'], `${plugin.apiVersion} is not one of ${versions.join(', ')}`)
  }
  if (!plugin.command) throw new ConfigError([...context.where, 'command'], 'is missing')
  if (plugin.interactiveMode === 'Always') {
    throw new ConfigError([...context.where, 'interactiveMode'], 'Always is not supported: there is no terminal')
  }
  return cachedCredential(
    async () => parseCredential(await runPlugin(plugin, context), plugin, context.where),
    context.now,
  )
}

function runPlugin(plugin: ExecPlugin, { where, env, cluster }: ExecContext): Promise<string> {
  const spec = plugin.provideClusterInfo === true ? { cluster, interactive: false } : { interactive: false }
  const info = JSON.stringify({ apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec })
  const own = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]))
  const options = { env: { ...env, ...own, KUBERNETES_EXEC_INFO: info }, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT }
  return new Promise((resolve, reject) => {
    const child = execFile(plugin.command, [...(plugin.args ?? [])], options, (error, stdout, stderr) => {
      if (error) reject(new ConfigError([...where, plugin.command], failureMessage(plugin, error, stderr), error))
      else resolve(stdout)
    })
    child.stdin?.end()
  })
}

function failureMessage(plugin: ExecPlugin, error: ExecFileException, stderr: string): string {
  if (error.code === 'ENOENT') return `plugin not found. ${plugin.installHint ?? ''}`.trimEnd()
  return `plugin failed: ${stderr.trim().slice(-500) || error.message}`
}

interface ExecStatus {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

function parseCredential(output: string, plugin: ExecPlugin, where: readonly string[]): Loaded {
  const {
    token,
    clientCertificateData: cert,
    clientKeyData: key,
    expirationTimestamp,
  } = parseStatus(output, plugin, where)
  if (!token && !(cert && key)) {
    throw new ConfigError([...where, plugin.command], 'returned neither a token nor a certificate with its key')
  }
  const credential: Credential = { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) }
  const expiry = expirationTimestamp === undefined ? Infinity : Date.parse(expirationTimestamp) - MARGIN_MS
  if (Number.isNaN(expiry)) throw new ConfigError([...where, plugin.command], 'returned an invalid expirationTimestamp')
  return { credential, freshUntil: expiry }
}

function parseStatus(output: string, plugin: ExecPlugin, where: readonly string[]): ExecStatus {
  let answer: { readonly apiVersion?: string; readonly kind?: string; readonly status?: ExecStatus } | null
  try {
    answer = JSON.parse(output) as typeof answer
  } catch (error) {
    throw new ConfigError([...where, plugin.command], 'did not print JSON', error)
  }
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== plugin.apiVersion) {
    throw new ConfigError([...where, plugin.command], `did not print an ExecCredential of ${plugin.apiVersion}`)
  }
  return answer.status ?? {}
}
