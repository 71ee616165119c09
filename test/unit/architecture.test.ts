/** The lists of files in ARCHITECTURE.md: short, without repetition, and with files that exist. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')
const MAX_FILES = 14

const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8')

/** Files of the numbered list below a heading, in order. */
function filesBelow(heading: string): string[] {
  const [, section = ''] = page.split(`### ${heading}`)
  const [list = ''] = section.split(/^##/m)
  return [...list.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file)
}

for (const heading of [
  '`spec.numWorkers` to Pods and back to the status',
  '`versions[].weight` to an HTTPRoute and back to the status',
]) {
  test(`${heading}: at most ${MAX_FILES} files, each once`, () => {
    const files = filesBelow(heading)
    assert.ok(files.length > 5 && files.length <= MAX_FILES, `${files.length} files`)
    assert.deepEqual([...new Set(files)], files)
    assert.deepEqual(
      files.filter((file) => /^src\/(kube|runtime)\//.test(file)),
      [],
    )
  })
}

test('every file that the page names exists', () => {
  const files = [...page.matchAll(/`((?:src|test|scripts|docs|testenv)\/[\w./-]+)`/g)].map(([, file = '']) => file)
  assert.ok(files.length > 20)
  assert.deepEqual(
    files.filter((file) => !existsSync(join(ROOT, file))),
    [],
  )
})
