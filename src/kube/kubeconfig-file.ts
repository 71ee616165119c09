/**
 * Kubeconfig files as they are on disk: read, checked for shape, and merged as kubectl does it: the first file to name
 * a cluster, user, context or current context wins, and relative paths are relative to the file they stand in.
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

/** A missing file is skipped, as long as one is there. */
export async function readKubeconfigs(files: readonly string[]): Promise<Kubeconfig> {
  const found: { readonly file: string; readonly content: RawKubeconfig }[] = []
  for (const file of files) {
    const text = await textOf(file)
    if (text !== undefined) found.push({ file, content: contentOf(file, text) })
  }
  if (found.length === 0) throw new ConfigError([`kubeconfig ${files.join(', ')}`], 'no such file')
  const currentContext = found.map(({ content }) => content['current-context']).find(Boolean)
  return {
    files: found.map(({ file }) => file),
    ...(currentContext === undefined ? {} : { currentContext }),
    clusters: merged(found.map(({ file, content }) => entries(file, content, 'cluster'))),
    users: merged(found.map(({ file, content }) => entries(file, content, 'user'))),
    contexts: merged(found.map(({ file, content }) => entries(file, content, 'context'))),
  }
}

/** Paths inside a kubeconfig start at the file they stand in. */
export function besideFile(file: string, path: string): string {
  return resolve(dirname(file), path)
}

type Kind = 'cluster' | 'user' | 'context'
type RawKubeconfig = { readonly 'current-context'?: string } & Readonly<Record<`${Kind}s`, unknown>>

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError([`kubeconfig ${file}`], 'cannot be read', error)
  }
}

function contentOf(file: string, text: string): RawKubeconfig {
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

function entries<T>(file: string, content: RawKubeconfig, kind: Kind): [string, Entry<T>][] {
  const list = content[`${kind}s`] ?? []
  if (!Array.isArray(list)) throw new ConfigError([`kubeconfig ${file}`, `${kind}s`], 'is not a list')
  return list.map((item: { readonly name?: unknown } & Readonly<Record<Kind, T | null>>) => {
    if (typeof item?.name !== 'string')
      throw new ConfigError([`kubeconfig ${file}`, `${kind}s`], 'an entry has no name')
    return [item.name, { file, value: item[kind] ?? ({} as T) }]
  })
}

/** Later entries first, so that the earliest is the one that stays. */
function merged<T>(lists: readonly (readonly [string, Entry<T>][])[]): Map<string, Entry<T>> {
  return new Map(lists.flat().toReversed())
}
