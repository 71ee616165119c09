import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Flags, helpOf, parseFlags, UsageError, wholeNumber } from './flags.ts'

const flags = {
  port: { value: 'PORT', env: 'PORT', default: '8000', help: 'where to listen' },
  file: { value: 'FILE', help: 'what to read' },
  elect: { env: 'ELECT', default: 'true', help: 'elect a leader' },
} as const satisfies Flags

test('the command line wins over the environment, the environment over the default', () => {
  assert.deepEqual(parseFlags(flags, [], {}), { port: '8000', file: undefined, elect: true })
  assert.deepEqual(parseFlags(flags, [], { PORT: '1', ELECT: 'false' }), { port: '1', file: undefined, elect: false })
  const given = parseFlags(flags, ['--port=2', '--file', 'a', '--no-elect'], { PORT: '1' })
  assert.deepEqual(given, { port: '2', file: 'a', elect: false })
})

test('an empty variable says nothing', () => {
  assert.equal(parseFlags(flags, [], { PORT: '' }).port, '8000')
})

test('nonsense is a UsageError', () => {
  for (const args of [['--nonsense'], ['--file'], ['stray']])
    assert.throws(() => parseFlags(flags, args, {}), UsageError)
  assert.throws(() => parseFlags(flags, [], { ELECT: 'perhaps' }), /elect is either true or false/)
  assert.throws(() => wholeNumber('port', 'many', 0, 10), /--port is a whole number from 0 to 10/)
  assert.equal(wholeNumber('port', '7', 0, 10), 7)
})

test('the help shows every flag with its variable and default', () => {
  const help = helpOf(flags)
  assert.match(help, /--port PORT +where to listen \(\$PORT, default 8000\)/)
  assert.match(help, /--\[no-\]elect/)
})
