import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Flags, helpOf, parseFlags, UsageError, parseInteger, parseNames } from './flags.ts'

const flags = {
  port: { value: 'PORT', env: 'PORT', default: '8000', help: 'where to listen' },
  file: { value: 'FILE', help: 'what to read' },
  elect: { env: 'ELECT', default: 'true', help: 'elect a leader' },
} as const satisfies Flags

test('the command line takes precedence over the environment, the environment over the default', () => {
  assert.deepEqual(parseFlags(flags, [], {}), { port: '8000', file: undefined, elect: true })
  assert.deepEqual(parseFlags(flags, [], { PORT: '1', ELECT: 'false' }), { port: '1', file: undefined, elect: false })
  const given = parseFlags(flags, ['--port=2', '--file', 'a', '--no-elect'], { PORT: '1' })
  assert.deepEqual(given, { port: '2', file: 'a', elect: false })
})

test('ignores empty variables', () => {
  assert.equal(parseFlags(flags, [], { PORT: '' }).port, '8000')
})

test('invalid values are UsageErrors', () => {
  for (const args of [['--nonsense'], ['--file'], ['stray']])
    assert.throws(() => parseFlags(flags, args, {}), UsageError)
  assert.throws(() => parseFlags(flags, [], { ELECT: 'perhaps' }), /--elect must be true or false/)
  assert.throws(() => parseInteger('port', 'many', 0, 10), /--port must be an integer from 0 to 10/)
  assert.equal(parseInteger('port', '7', 0, 10), 7)
})

test('parses a list of names', () => {
  assert.deepEqual(parseNames('namespace', ''), [])
  assert.deepEqual(parseNames('namespace', 'team-a, team-b,team-a,'), ['team-a', 'team-b'])
  for (const wrong of ['Team', 'a b', '-a', 'a'.repeat(64)])
    assert.throws(() => parseNames('namespace', `a,${wrong}`), /--namespace must be a list of names like a,b, not/)
})

test('the help shows every flag with its variable and default', () => {
  const help = helpOf(flags)
  assert.match(help, /--port PORT +where to listen \(\$PORT, default 8000\)/)
  assert.match(help, /--\[no-\]elect/)
})
