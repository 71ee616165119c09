/**
 * Reads kubeconfig files, validates their structure and merges them as kubectl does: the first file that names a cluster,
 * user, context or current context wins, and relative paths are relative to their file.
 */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { ConfigError } from './config-error.ts'
import type { ExecPlugin } from './exec-plugin.ts'

export interface KubeconfigCluster {
  readonly server?: string
  readonly 'certificate-authority'?: string
  readonly 'certificate-authority-data'?: string
  readonly 'insecure-skip-tls-verify'?: boolean
  readonly 'tls-server-name'?: string
  readonly 'proxy-url'?: string
}

export interface KubeconfigUser {
  readonly 'client-certificate'?: string
  readonly 'client-certificate-data'?: string
  readonly 'client-key'?: string
  readonly 'client-key-data'?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly exec?: ExecPlugin
}

export interface KubeconfigContext {
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
}

/** One entry, and the file it came from. */
export interface Entry<T> {
  readonly file: string
  readonly value: T
}

export interface Kubeconfig {
  readonly files: readonly string[]
  readonly currentContext?: string
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>
}

/** Skips missing files, but fails if all are missing. */
export async function readKubeconfigs(files: readonly string[]): Promise<Kubeconfig> {
  const found: { readonly file: string; readonly content: RawKubeconfig }[] = []
  for (const file of files) {
    const text = await readText(file)
    if (text !== undefined) found.push({ file, content: parseContent(file, text) })
  }
  if (found.length === 0) throw new ConfigError([`kubeconfig ${files.join(', ')}`], 'no such file')
  const currentContext = found.map(({ content }) => content['current-context']).find(Boolean)
  return {
    files: found.map(({ file }) => file),
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: mergeEntries(found.map(({ file, content }) => parseEntries(file, content, 'cluster'))),
    users: mergeEntries(found.map(({ file, content }) => parseEntries(file, content, 'user'))),
    contexts: mergeEntries(found.map(({ file, content }) => parseEntries(file, content, 'context'))),
  }
}

/** Resolves a path of a kubeconfig, which is relative to its file. */
export function resolvePath(file: string, path: string): string {
  return resolve(dirname(file), path)
}

type Kind = 'cluster' | 'user' | 'context'
type RawKubeconfig = { readonly 'current-context'?: string } & Readonly<Record<`${Kind}s`, unknown>>

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError([`kubeconfig ${file}`], 'cannot be read', error)
  }
}

function parseContent(file: string, text: string): RawKubeconfig {
  if (nestingOf(text) > MAX_NESTING) throw new ConfigError([`kubeconfig ${file}`], 'is nested too deeply')
  let content: unknown
  try {
    content = parse(text) ?? {}
  } catch (error) {
    throw new ConfigError([`kubeconfig ${file}`], 'is not YAML', error)
  }
  if (typeof content !== 'object' || Array.isArray(content))
    throw new ConfigError([`kubeconfig ${file}`], 'is not a mapping')
  return content as RawKubeconfig
}

/** The time to parse YAML grows with the square of its nesting depth. */
const MAX_NESTING = 64

/** The largest number of open brackets: at least the nesting depth of flow collections. */
function nestingOf(text: string): number {
  let [open, most] = [0, 0]
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    most = Math.max(most, open)
  }
  return most
}

function parseEntries<T>(file: string, content: RawKubeconfig, kind: Kind): [string, Entry<T>][] {
  const list = content[`${kind}s`] ?? []
  if (!Array.isArray(list)) throw new ConfigError([`kubeconfig ${file}`, `${kind}s`], 'is not a list')
  return list.map((item: { readonly name?: unknown } & Readonly<Record<Kind, T | null>>) => {
    if (typeof item?.name !== 'string')
      throw new ConfigError([`kubeconfig ${file}`, `${kind}s`], 'an entry has no name')
    const value: unknown = item[kind] ?? {}
    checkFields(value, [`kubeconfig ${file}`, `${kind} ${item.name}`])
    return [item.name, { file, value: value as T }]
  })
}

/** Fields that are not strings. */
const OTHER_FIELDS = new Set(['insecure-skip-tls-verify', 'disable-compression', 'exec', 'extensions', 'auth-provider'])

function checkFields(entry: unknown, where: readonly string[]): void {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw new ConfigError(where, 'is not a mapping')
  for (const [field, value] of Object.entries(entry)) {
    if (value === null || typeof value === 'string' || OTHER_FIELDS.has(field) || field.startsWith('as-')) continue
    throw new ConfigError([...where, field], 'is not a string: put it in quotes')
  }
}

/** In reverse order, so that the first entry of a name wins. */
function mergeEntries<T>(lists: readonly (readonly [string, Entry<T>][])[]): Map<string, Entry<T>> {
  return new Map(lists.flat().toReversed())
}
