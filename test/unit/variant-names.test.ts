/**
 * A variant owns everything that is particular to it: its name stands in its own folder, in the API and in tests, and
 * nowhere else. Comments and sentences for people may name it; code may not.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { allTrafficProviders } from '../../src/api/serving-traffic.ts'

const ROOT = resolve(import.meta.dirname, '../..')

interface Variants {
  readonly what: string
  readonly names: readonly string[]
  /** Names that are no ordinary words of the code base: they may not even be a part of an identifier. */
  readonly distinctive: readonly string[]
  /** The object whose members they are, in code that has one. */
  readonly registry: string
  /** Where the names may stand: how the paths of these files begin. */
  readonly homes: readonly string[]
}

const table: readonly Variants[] = [
  {
    what: 'traffic provider',
    names: allTrafficProviders,
    distinctive: ['istio', 'router'],
    registry: 'providers',
    homes: [
      'src/plan/traffic/providers/',
      // The enums, and the names that no version may have: `{name}-router` is taken.
      'src/api/serving-traffic.ts',
      'src/api/serving-status.ts',
      'src/api/serving-version.ts',
      // The other half of the router: the agent beside HAProxy, and what it says to the operator.
      'src/agent/router/',
      'src/agent/commands.ts',
      'src/api/router-',
    ],
  },
]

const SOURCES = ['src/**/*.ts', 'scripts/install/**/*.ts']

/** Code without comments. Strings stay, but for the paths of imports. */
function codeOf(source: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  return source
    .replaceAll(token, (found) => (found.startsWith('/*') || found.startsWith('//') ? ' ' : found))
    .replaceAll(/\bfrom '[^']*'/g, '')
}

/** Names in code, as literals or as words of identifiers: `'istio'`, `istioProvider`, `providers.replicas`. */
function namesIn(source: string, { names, distinctive, registry }: Omit<Variants, 'what' | 'homes'>): string[] {
  const code = codeOf(source)
  const literals = [...code.matchAll(/(['"`])([\w-]+)\1/g)].map(([, , text]) => text ?? '')
  const bare = code.replaceAll(/(['"`])(?:(?!\1)[^\\\n]|\\.)*\1/g, "''")
  const identifiers = bare.match(/[A-Za-z_$][\w$]*/g) ?? []
  const registered = [...bare.matchAll(new RegExp(`\\b${registry}\\??\\.(\\w+)`, 'g'))].map(
    ([, member]) => member ?? '',
  )
  const isWordOf = (name: string, identifier: string): boolean => wordsOf(identifier).includes(name)
  return names.filter(
    (name) =>
      literals.includes(name) ||
      registered.includes(name) ||
      (distinctive.includes(name) && identifiers.some((identifier) => isWordOf(name, identifier))),
  )
}

/** `istioExportTo` and `ISTIO_KINDS`: istio, export, to; istio, kinds. */
const wordsOf = (identifier: string): string[] =>
  identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$]+/)

for (const variants of table) {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter(
    (file) => !file.endsWith('.test.ts') && !variants.homes.some((home) => file.startsWith(home)),
  )

  test(`the name of a ${variants.what} stands only in its own folder, the API and tests`, () => {
    assert.ok(files.length > 100, 'there are sources to look at')
    const found = files.flatMap((file) =>
      namesIn(readFileSync(join(ROOT, file), 'utf8'), variants).map((name) => `${file}: ${name}`),
    )
    assert.deepEqual(found, [], 'declare it in the contract of the variant, and ask for that')
  })
}

const providers = { names: allTrafficProviders, distinctive: ['istio', 'router'], registry: 'providers' }

const planted: readonly (readonly [string, readonly string[]])[] = [
  [`if (provider.name === 'istio') return`, ['istio']],
  ['const best = "gateway"', ['gateway']],
  ['export const istioKinds = []', ['istio']],
  ['const ISTIO_KINDS = []', ['istio']],
  ['type A = RouterReport', ['router']],
  ['const chosen = providers.replicas', ['replicas']],
  [`case 'direct':`, ['direct']],
  ['// istio and the router', []],
  ['/** `istio` */ const a = 1', []],
  [`const note = 'the router is in effect'`, []],
  ['const { replicas } = spec', []],
  ['const direct = isLoopback(host)', []],
  [`import { haproxy } from './router/haproxy.ts'`, []],
  ['const { gateways } = traffic', []],
]

for (const [source, expected] of planted)
  test(`finds ${expected.join(', ') || 'nothing'} in ${source}`, () =>
    assert.deepEqual(namesIn(source, providers), expected))
