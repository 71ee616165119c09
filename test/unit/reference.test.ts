import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubernetesTypes } from '../../scripts/kubernetes-types.ts'
import { referencePages } from '../../scripts/reference.ts'
import { kinds } from '../../src/api/kinds.ts'

const pages = referencePages(kinds)
const index = pages.get('CRD_REFERENCE.md') ?? ''
const text = [...pages.values()].join('\n')
const rows = text.split('\n').filter((line) => line.startsWith('| `'))
const fields = rows.map((row) => row.split('`')[1] ?? '')

test('each kind has its own page', () => {
  assert.deepEqual(
    [...pages.keys()],
    [
      'CRD_REFERENCE.md',
      'reference/trainingjob.md',
      'reference/trainingschedule.md',
      'reference/modeldeployment.md',
      'reference/modelserver.md',
      'reference/mlops-modeldeployment.md',
    ],
  )
})

test('has a type, a description and an example for every field', () => {
  assert.ok(rows.length > 200, `${rows.length} rows`)
  const lacking = rows.filter((row) => {
    const [, , type, , , meaning, example] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    return !type || !meaning || !example
  })
  assert.deepEqual(lacking, [])
})

test('the index has a link to every version of every kind', () => {
  const links = [...index.matchAll(/\]\((reference\/[^)]+)\)/g)].map(([, link]) => link)
  const headings = [...pages].flatMap(([path, page]) =>
    [...page.matchAll(/^## (.+)$/gm)].map(([, title = '']) => `${path}#${anchorOf(title)}`),
  )
  assert.deepEqual(links, headings)
})

const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

test('a field with a type of Kubernetes has one row, which links to the type and lists the supported fields', () => {
  for (const [section, types] of Object.entries(kubernetesTypes))
    for (const [name, { url }] of Object.entries(types)) {
      const own = rows.filter((row) => new RegExp(`^\\| \`${section}\\.([^\`]+\\.)?${name}\``).test(row))
      assert.ok(own.length > 0, `${section} has a field ${name}`)
      for (const row of own) assert.ok(row.includes(`](${url})`) && /Fields: `\w/.test(row), row)
      assert.deepEqual(
        fields.filter((field) => new RegExp(`^${section}\\..*\\b${name}(\\[\\])?\\.`).test(field)),
        [],
      )
    }
})

test('keeps the fields of a field of our own that has the name of a type of Kubernetes', () => {
  assert.ok(fields.includes('status.resources.allocatedGPUs'))
})

test('contains no unescaped HTML', () => {
  const prose = text.replaceAll(/`[^`]*`/g, '').replaceAll(/<!--.*?-->/gs, '')
  assert.doesNotMatch(prose, /<\w/)
})
