/** Lines of a log: what is a report, what is not, and what hostile lines cost. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { ProgressReport } from '../../api/training-report.ts'
import { parseLogLine } from './log-line.ts'
import { LogLines } from './log-lines.ts'

const reports: readonly [string, ProgressReport][] = [
  [
    'epoch=3/10 step=1200/4000 loss=0.21 accuracy=0.95 throughput=512.3 lr=0.001',
    {
      epoch: 3,
      totalEpochs: 10,
      step: 1200,
      totalSteps: 4000,
      metrics: { loss: 0.21, accuracy: 0.95, throughput: 512.3, lr: 0.001 },
    },
  ],
  [
    'checkpoint=/checkpoints/step-00001000 checkpoint_step=1000',
    { checkpoint: { path: '/checkpoints/step-00001000', step: 1000 } },
  ],
  ['checkpoint="/a \\"b\\" c" checkpoint_step=7', { checkpoint: { path: '/a "b" c', step: 7 } }],
  ['step=7 f1@5=0.5 eval/loss=1e-3', { step: 7, metrics: { 'eval/loss': 0.001 } }],
  ['step=7 loss=nan lr=inf', { step: 7 }],
  [
    '{"epoch": 3, "totalEpochs": 10, "loss": 0.2, "metrics": {"lr": 1}}',
    { epoch: 3, totalEpochs: 10, metrics: { loss: 0.2, lr: 1 } },
  ],
  ['{"level":"info","time":1700000000,"msg":"done","step":5}', { step: 5 }],
  ['epoch 3/10 loss=0.2', { epoch: 3, totalEpochs: 10, metrics: { loss: 0.2 } }],
  ['Epoch: 3 - loss: 0.2 - acc: 0.9 - val_loss: 0.3', { epoch: 3, metrics: { loss: 0.2, accuracy: 0.9 } }],
  ['Epoch [3/10], Step [100/600], Loss: 0.2153', { epoch: 2, totalEpochs: 10, metrics: { loss: 0.2153 } }],
  ['Iter 100/600 | loss 1.5e-2', { step: 100, totalSteps: 600, metrics: { loss: 0.015 } }],
]

for (const [line, expected] of reports) test(line, () => assert.deepEqual(parseLogLine(`${line}\r`), expected))

const others = [
  '',
  'Epoch 3/10',
  'starting epoch 3/10 loss=0.2',
  'a=1 b=2',
  'loss=low',
  'epoch=three loss=0.2',
  'epoch=-1 loss=0.2',
  'step=99999999999999999 loss=1',
  '{"epoch": -1}',
  '{"epoch": "3"}',
  '{"msg": "loss=0.2"}',
  '{"epoch": 3',
  '[1, 2]',
  ' 45%|████▌     | 450/1000 [00:10<00:12, 44.1it/s]',
  '2026-01-01 12:00:00 INFO epoch=3 loss=0.2',
  '\u0000\u0001\uFFFD=\uFFFD',
]
for (const line of others) test(`no report: ${line}`, () => assert.equal(parseLogLine(line), undefined))

describe('hostile lines', () => {
  test('any text is parsed without an error, into finite numbers only', () => {
    const word = fc.constantFrom(
      'epoch',
      'step',
      'loss',
      '=',
      '/',
      ' ',
      '3',
      '1e999',
      '{',
      '}',
      '"',
      '[',
      '\\',
      '.',
      '-',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(word, { maxLength: 60 }).map((parts) => parts.join('')),
        ),
        (line) => {
          const report = parseLogLine(line)
          for (const value of Object.values(report?.metrics ?? {})) assert.ok(Number.isFinite(value))
          for (const value of [report?.epoch, report?.step])
            assert.ok(value === undefined || Number.isSafeInteger(value))
        },
      ),
    )
  })

  test('10,000 names are no report, or at most 32 metrics', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `m${index}=1`)
    assert.equal(parseLogLine(`step=1 ${names.join(' ')}`), undefined)
    const some = parseLogLine(`step=1 ${names.slice(0, 60).join(' ')}`)
    assert.equal(Object.keys(some?.metrics ?? {}).length, 32)
  })

  const long = 'x'.repeat(16_000)
  for (const line of [
    long,
    `epoch=${long}`,
    `epoch ${'1'.repeat(500)}`,
    'a='.repeat(8_000),
    '"'.repeat(16_000),
    `loss="${'\\'.repeat(15_000)}`,
  ])
    test(`is fast: ${line.slice(0, 20)}…`, () => {
      const before = performance.now()
      for (let round = 0; round < 50; round += 1) parseLogLine(line)
      assert.ok(performance.now() - before < 5_000)
    })
})

describe('chunks', () => {
  const split = (chunks: readonly string[], max = 100): string[] => {
    const lines = new LogLines()
    return chunks.flatMap((chunk) => lines.push(Buffer.from(chunk), max))
  }

  test('lines end with a line feed or a carriage return, also between chunks', () => {
    assert.deepEqual(split(['a\nb', 'c\rd', '\r\n', 'e']), ['a', 'bc', 'd'])
  })

  test('a line of 1 MB is omitted, and the next one is read', () => {
    const half = 'x'.repeat(512 * 1024)
    assert.deepEqual(split(['step=1\n', half, half, '\nstep=2\n']), ['step=1', 'step=2'])
  })

  test('of a flood, the last lines', () => {
    const flood = Array.from({ length: 10_000 }, (_, index) => `step=${index}\n`).join('')
    assert.deepEqual(split([flood], 3), ['step=9997', 'step=9998', 'step=9999'])
  })
})
