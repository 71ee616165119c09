/** The name of a training framework, or of one of its roles, appears only with the framework and in the API. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { frameworks } from '../../src/api/training-parts.ts'
import { roleNames } from '../../src/api/training-roles.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** Model servers have frameworks of their own, some of the same name. */
const HOMES = ['src/plan/training/frameworks/', 'src/api/', 'src/plan/serving/runtimes/']

/** Also English words: only a string of exactly this text is the name. */
const COMMON_WORDS: readonly string[] = ['custom', 'ps']
const names = [...frameworks, ...roleNames]
const patterns = [
  ...names.filter((name) => COMMON_WORDS.includes(name)).map((name) => new RegExp(`['"\`]${name}['"\`]`)),
  ...[...names, 'torch', 'torchrun'].filter((name) => !COMMON_WORDS.includes(name)).flatMap(wordPatterns),
]

/** A word in any case (`mpi`, `MPI`, `PyTorch`), also within an identifier: `mpiKeys`, `isMpi`. */
function wordPatterns(name: string): RegExp[] {
  const capital = `${name[0]?.toUpperCase()}${name.slice(1)}`
  return [
    new RegExp(`(?<![A-Za-z])${name}s?(?![A-Za-z])`, 'i'),
    new RegExp(`(?<![A-Za-z])${name}(?=[A-Z])`),
    new RegExp(`${capital}(?![a-z])`),
  ]
}

function violations(path: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const rest = line.replaceAll('TensorFlow Serving', 'a model server')
    return patterns.some((pattern) => pattern.test(rest)) ? [`${path}:${index + 1}: ${line.trim()}`] : []
  })
}

test('no other source file names a framework or one of its roles', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter(
    (path) => !path.endsWith('.test.ts') && !HOMES.some((home) => path.startsWith(home)),
  )
  assert.ok(files.length > 100)
  assert.deepEqual(
    files.flatMap((path) => violations(path, readFileSync(join(ROOT, path), 'utf8'))),
    [],
  )
})

test('a planted name is found', () => {
  for (const line of [
    "if (framework === 'mpi')",
    'isElasticTorch(spec)',
    "role === 'ps'",
    '/** The launcher. */',
    'mpiKeys()',
    'for PyTorch',
  ])
    assert.equal(violations('src/planted.ts', line).length, 1, line)
  for (const line of ['a custom object', 'compile()', 'ajax', 'steps']) assert.deepEqual(violations('x', line), [])
})
