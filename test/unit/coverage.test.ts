/** The coverage of two processes that run different parts of a file. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { coverageOf, percentOf } from '../../scripts/coverage.ts'

const SIGN = `/** A comment. */
export interface Unused {
  readonly a: string
}

export function sign(value: number): string {
  if (value > 0) {
    return 'positive'
  }
  // Not a line of code.
  if (value < 0) {
    return 'negative'
  }
  return 'zero'
}
`

test('a line is covered if one of the processes ran it; files that none has loaded count too', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'coverage-test-'))
  t.after(() => rmSync(root, { recursive: true }))
  const [src, reports] = [join(root, 'src'), join(root, 'reports')]
  for (const directory of [src, reports]) mkdirSync(directory)
  writeFileSync(join(src, 'sign.ts'), SIGN)
  writeFileSync(join(src, 'type.ts'), 'export type Name = string\n')
  for (const value of [1, 0]) {
    const program = `const { sign } = await import(${JSON.stringify(join(src, 'sign.ts'))}); sign(${value})`
    const env = { ...process.env, NODE_V8_COVERAGE: reports, NODE_TEST_CONTEXT: undefined }
    const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { env })
    assert.equal(status, 0)
  }
  const files = coverageOf(reports, src)
  const missed = Object.fromEntries(files.map((file) => [file.file.slice(src.length + 1), file.missed]))
  assert.deepEqual(missed, { 'sign.ts': [12], 'type.ts': [] })
  assert.equal(percentOf(files).toFixed(1), '83.3')
  writeFileSync(join(src, 'never.ts'), 'export const one = 1\n')
  assert.deepEqual(
    coverageOf(reports, src).find(({ file }) => file.endsWith('never.ts')),
    { file: join(src, 'never.ts'), lines: 1, missed: [1] },
  )
})
