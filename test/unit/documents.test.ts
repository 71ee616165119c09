/** What can be checked of our documents without a cluster. `test/controlplane/documents.test.ts` applies the manifests. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { GROUP, MLOPS_GROUP } from '../../src/api/kinds.ts'
import { operatorConfig } from '../../src/operator-config.ts'
import { type Block, blocksIn, ROOT } from '../documents/blocks.ts'

const documents = globSync(['*.md', 'docs/**/*.md', 'examples/*.md'], { cwd: ROOT }).toSorted()
const labelled = documents.flatMap((document) =>
  blocksIn(document)
    .filter(({ label }) => label !== '')
    .map((block) => ({ document, ...block })),
)

type Values = Readonly<Record<string, unknown>>

const parsed = ({ text }: Block) =>
  parseAllDocuments(text).map((one) => {
    assert.deepEqual(one.errors, [])
    return one.toJS() as { readonly apiVersion?: string } | null
  })

test('every label of a block is known, and what it labels is as it says', () => {
  const groups = [GROUP, MLOPS_GROUP]
  for (const block of labelled) {
    const at = `${block.document}: ${block.heading}: ${block.label}`
    const objects = parsed(block)
    const versions = objects.map((object) => object?.apiVersion ?? '')
    if (block.label === 'config') for (const settings of objects) assert.ok(operatorConfig(settings), at)
    else if (block.label === 'fragment') assert.deepEqual(new Set(versions), new Set(['']), at)
    else if (block.label === 'foreign')
      assert.ok(!versions.some((version) => version === '' || groups.includes(version.split('/')[0] ?? '')), at)
    else assert.fail(`${at} is not a label`)
  }
})

test('every block of YAML without a label is a manifest', () => {
  for (const document of documents)
    for (const block of blocksIn(document).filter(({ language, label }) => language === 'yaml' && label === ''))
      for (const object of parsed(block)) assert.ok(object?.apiVersion, `${document}: ${block.heading}`)
})

test('the list of examples has every example', () => {
  const text = readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8')
  const missing = globSync('*.yaml', { cwd: join(ROOT, 'examples') }).filter((name) => !text.includes(`](${name})`))
  assert.deepEqual(missing, [])
})

test('every value of the chart that a document sets exists', () => {
  const values = parse(readFileSync(join(ROOT, 'charts', 'ml-operator', 'values.yaml'), 'utf8')) as Values
  const settings = { ...operatorConfig({}) } as unknown as Values
  const exists = (path: readonly string[], inside: unknown): boolean => {
    const [first, ...rest] = path
    if (first === undefined) return true
    if (typeof inside !== 'object' || inside === null) return false
    // An empty map has keys that the user chooses.
    return Object.keys(inside).length === 0 || (first in inside && exists(rest, (inside as Values)[first]))
  }
  const names = documents.flatMap((document) =>
    [...readFileSync(join(ROOT, document), 'utf8').matchAll(/--set(?:-file)?[ =]([\w.-]+)=/g)].map(
      ([, name = '']) => [document, name] as const,
    ),
  )
  assert.ok(names.length > 8)
  const unknown = names.filter(([, name]) => {
    const [first = '', ...rest] = name.split('.')
    return first === 'config' ? !exists(rest, settings) : !exists([first, ...rest], values)
  })
  assert.deepEqual(unknown, [])
})

const anchorsIn = (document: string): Set<string> =>
  new Set(
    [...readFileSync(join(ROOT, document), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  )

test('every relative link leads to a file, and to a heading if it names one', () => {
  const broken = documents.flatMap((document) => {
    const prose = readFileSync(join(ROOT, document), 'utf8').replaceAll(/`[^`\n]*`/g, '')
    return [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(([, path = '', anchor]) => {
      const target = path === '' ? document : join(dirname(document), path)
      const isBroken =
        !existsSync(join(ROOT, target)) ||
        (anchor !== undefined && target.endsWith('.md') && !anchorsIn(target).has(anchor))
      return isBroken ? [`${document}: ${path}${anchor === undefined ? '' : `#${anchor}`}`] : []
    })
  })
  assert.deepEqual(broken, [])
})
