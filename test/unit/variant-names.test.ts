/**
 * The name of a variant appears only with the variant, in the API and in tests. Other code asks the variant's contract.
 * One row per family of variants; the planted lines show what the check finds and what it allows.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { allTrafficProviders } from '../../src/api/serving-traffic.ts'
import { frameworks } from '../../src/api/training-parts.ts'
import { gangSchedulers } from '../../src/api/training-scheduling.ts'
import { roleNames } from '../../src/api/training-roles.ts'

const ROOT = join(import.meta.dirname, '..', '..')

interface Family {
  readonly names: readonly string[]
  /** Names that are also ordinary words: only a string of exactly this text, or a member of the registry, is the name. */
  readonly commonWords: readonly string[]
  /** The variable whose members are the variants, in code that has one. */
  readonly registry?: string
  /** `code`: comments and sentences in strings may use the names. `text`: nothing may. */
  readonly searched: 'code' | 'text'
  /** Names of other things that contain one of the names. */
  readonly otherNames: readonly string[]
  readonly sources: readonly string[]
  /** Those of the sources that may use the names, by the start of their path. */
  readonly homes: readonly string[]
  /** Lines, and the names that the check finds in each of them. */
  readonly planted: readonly (readonly [line: string, found: readonly string[]])[]
}

const families: Readonly<Record<string, Family>> = {
  'traffic provider': {
    names: allTrafficProviders,
    commonWords: allTrafficProviders.filter((name) => !['istio', 'router'].includes(name)),
    registry: 'providers',
    searched: 'code',
    otherNames: [],
    sources: ['src/**/*.ts', 'scripts/install/**/*.ts'],
    homes: [
      'src/plan/traffic/providers/',
      // The enums, and the names that no version may have: `{name}-router` is taken.
      'src/api/serving-traffic.ts',
      'src/api/serving-status.ts',
      'src/api/serving-version.ts',
      // The other half of the router: the agent beside Envoy, and its reports to the operator.
      'src/agent/router/',
      'src/agent/commands.ts',
      'src/api/router-',
    ],
    planted: [
      [`if (provider.name === 'istio') return`, ['istio']],
      ['const best = "gateway"', ['gateway']],
      ['export const istioKinds = []', ['istio']],
      ['const ISTIO_KINDS = []', ['istio']],
      ['type A = RouterReport', ['router']],
      ['const chosen = providers.replicas', ['replicas']],
      [`case 'direct':`, ['direct']],
      ["const text = `by ${name === 'direct' ? a : b}`", ['direct']],
      ['// istio and the router', []],
      ['/** `istio` */ const a = 1', []],
      [`const note = 'the router is in effect'`, []],
      ['const { replicas } = spec', []],
      ['const direct = isLoopback(host)', []],
      [`import { envoy } from './router/envoy.ts'`, []],
      ['const { gateways } = traffic', []],
    ],
  },
  'gang scheduler': {
    names: gangSchedulers,
    commonWords: ['native', 'none'],
    searched: 'code',
    otherNames: [],
    sources: ['src/{api,plan,reconcile}/**/*.ts', 'scripts/install/**/*.ts'],
    homes: ['src/plan/training/gangs/', 'src/api/training-scheduling.ts'],
    planted: [
      [`if (gang === 'volcano')`, ['volcano']],
      [`const best = 'native'`, ['native']],
      ['const volcanoGroup = 1', ['volcano']],
      ['// Volcano has queues', []],
      ['const none = []', []],
    ],
  },
  'training framework or role': {
    names: [...frameworks, ...roleNames, 'torch', 'torchrun'],
    commonWords: ['custom', 'ps'],
    searched: 'text',
    otherNames: ['TensorFlow Serving'],
    sources: ['src/**/*.ts'],
    // Model servers have frameworks of their own, some of the same name.
    homes: ['src/plan/training/frameworks/', 'src/api/', 'src/plan/serving/runtimes/'],
    planted: [
      ["if (framework === 'mpi')", ['mpi']],
      ['isElasticTorch(spec)', ['torch']],
      ["role === 'ps'", ['ps']],
      ['/** The launcher. */', ['launcher']],
      ['mpiKeys()', ['mpi']],
      ['for PyTorch', ['pytorch', 'torch']],
      ['a custom object', []],
      ['compile()', []],
      ['ajax', []],
      ['steps', []],
      ['TensorFlow Serving', []],
    ],
  },
}

/** Each line with a name, and the name. */
function usesOf(family: Family, source: string): { readonly line: number; readonly name: string }[] {
  const lines = (family.searched === 'code' ? withoutComments(source) : source).split('\n')
  return lines.flatMap((line, index) => {
    const text = family.otherNames.reduce((rest, other) => rest.replaceAll(other, ''), line)
    return family.names.filter((name) => isUsed(family, name, text)).map((name) => ({ line: index + 1, name }))
  })
}

function isUsed({ commonWords, registry, searched }: Family, name: string, line: string): boolean {
  if (new RegExp(`['"\`]${name}['"\`]`).test(line)) return true
  const words = searched === 'code' ? line.replaceAll(/(['"`])(?:(?!\1)[^\\]|\\.)*\1/g, "''") : line
  if (registry !== undefined && new RegExp(`\\b${registry}\\??\\.${name}\\b`).test(words)) return true
  return !commonWords.includes(name) && wordPatterns(name).some((pattern) => pattern.test(words))
}

/** A word in any case (`mpi`, `MPI`, `PyTorch`, `routers`), also within an identifier: `mpiKeys`, `isMpi`, `ISTIO_KINDS`. */
function wordPatterns(name: string): RegExp[] {
  const capital = `${name[0]?.toUpperCase()}${name.slice(1)}`
  return [
    new RegExp(`(?<![A-Za-z])${name}s?(?![A-Za-z])`, 'i'),
    new RegExp(`(?<![A-Za-z])${name}(?=[A-Z])`),
    new RegExp(`${capital}(?![a-z])`),
  ]
}

/** Blanks comments, and keeps the lines. Strings are tokens too, so that `//` in them is no comment. */
function withoutComments(source: string): string {
  const token = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g
  return source.replaceAll(token, (found) => (found.startsWith('/') ? found.replaceAll(/[^\n]/g, ' ') : found))
}

for (const [what, family] of Object.entries(families))
  describe(`the name of a ${what}`, () => {
    test('appears only with its variant, in the API and in tests', () => {
      const files = family.sources
        .flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
        .filter((file) => !file.endsWith('.test.ts') && !family.homes.some((home) => file.startsWith(home)))
      assert.ok(files.length > 100, `${files.length} files are too few`)
      const found = files.flatMap((file) =>
        usesOf(family, readFileSync(join(ROOT, file), 'utf8')).map(({ line, name }) => `${file}:${line}: ${name}`),
      )
      assert.deepEqual(found, [], 'declare the difference in the contract of the variant')
    })

    for (const [line, found] of family.planted)
      test(`is ${found.length === 0 ? 'not found' : 'found'} in: ${line}`, () => {
        const names = usesOf(family, line).map(({ name }) => name)
        assert.deepEqual(names, found)
      })
  })
