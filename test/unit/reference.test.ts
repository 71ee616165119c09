import assert from 'node:assert/strict'
import { test } from 'node:test'
import { referencePage } from '../../scripts/reference.ts'
import { kinds } from '../../src/api/kinds.ts'

const page = referencePage(kinds)
const rows = page.split('\n').filter((line) => line.startsWith('| `'))

test('has a type, a description and an example for every field', () => {
  assert.ok(rows.length > 200, `${rows.length} rows`)
  const lacking = rows.filter((row) => {
    const [, , type, , , meaning, example] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return !type || !meaning || !example
  })
  assert.deepEqual(lacking, [])
})

test('has a link to every kind', () => {
  const anchors = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
  assert.deepEqual(anchors, headings)
})

test('contains no unescaped HTML', () => {
  const prose = page.replaceAll(/`[^`]*`/g, '').replaceAll(/<!--.*?-->/gs, '')
  assert.doesNotMatch(prose, /<\w/)
})
