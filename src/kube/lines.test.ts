import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import test from 'node:test'
import * as fc from 'fast-check'
import { lines } from './lines.ts'

test('lines are complete however the chunks are split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ''))),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (expected, sizes) => {
        const bytes = Buffer.from(expected.map((line) => `${line}\n`).join(''))
        assert.deepEqual(await gathered(lines(cut(bytes, sizes))), expected)
      },
    ),
  )
})

test('a last line without a newline is not lost', async () => {
  assert.deepEqual(await gathered(lines(cut(Buffer.from('a\nbc'), [1]))), ['a', 'bc'])
})

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0
  for (let turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

test('an error of the source reaches the reader', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('a\nb')
      throw new Error('reset')
    })(),
  )
  const seen: string[] = []
  await assert.rejects(async () => {
    for await (const line of lines(broken)) seen.push(line)
  }, /reset/)
  assert.deepEqual(seen, ['a'])
})

async function gathered(source: AsyncIterable<string>): Promise<string[]> {
  const seen: string[] = []
  for await (const line of source) seen.push(line)
  return seen
}
