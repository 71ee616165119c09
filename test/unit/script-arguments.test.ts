/** The command line of benchmarks and campaigns. Neither `--help` nor wrong usage starts one. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const SCRIPTS = join(import.meta.dirname, '..', '..', 'scripts')

function run(name: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [join(SCRIPTS, `${name}.ts`), ...args], { encoding: 'utf8' })
}

for (const name of [
  'bench',
  'bench-serving',
  'bench-client',
  'bench-cache',
  'bench-health',
  'bench-size',
  'bench-tracing',
  'faults',
  'fuzz',
  'mutants',
  'objects',
])
  test(`${name} --help prints the help`, () => {
    const { status, stdout, stderr } = run(name, '--help')
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(stdout, new RegExp(`^Usage: scripts/${name}.ts`))
  })

const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['bench-cache', ['many'], /^'many' is not a positive integer\n$/],
  ['bench-cache', ['0'], /^'0' is not a positive integer\n$/],
  ['bench-cache', ['1', '2'], /^unexpected argument '2'\n$/],
  ['bench-cache', ['--rounds'], /^Unknown option '--rounds'/],
]

for (const [name, args, message] of wrong)
  test(`${name} rejects ${args.join(' ')}`, () => {
    const { status, stdout, stderr } = run(name, ...args)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, message)
  })
