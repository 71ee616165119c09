import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { notesOf } from '../../scripts/release/changelog.ts'
import { CHECKSUMS, writeChecksums } from '../../scripts/release/checksums.ts'
import { withImage } from '../../scripts/release/install-yaml.ts'
import { type Bill, installedPackages, sbomOf } from '../../scripts/release/sbom.ts'
import { runCommand } from '../../testenv/command.ts'

const CHANGELOG = `# Changelog

## [Unreleased]

## [0.2.0] - 2026-02-01

### Added

- A feature, see [the guide].

### Fixed

- A bug.

## [0.1.0] - 2026-01-01

- First release.

[the guide]: https://example.com/guide
[0.2.0]: https://example.com/0.2.0
`

test('release notes are the section of the version, with its links', () => {
  assert.equal(
    notesOf(CHANGELOG, '0.2.0'),
    '### Added\n\n- A feature, see [the guide].\n\n### Fixed\n\n- A bug.\n\n[the guide]: https://example.com/guide\n',
  )
  assert.equal(notesOf(CHANGELOG, '0.1.0'), '- First release.\n')
  assert.equal(notesOf('## 0.1.0\ntext', '0.1.0'), 'text\n')
  assert.throws(() => notesOf(CHANGELOG, '0.3.0'), /no section for 0\.3\.0/)
  assert.throws(() => notesOf('## [0.1.0]\n\n## [0.0.1]\n\n- x', '0.1.0'), /0\.1\.0 of CHANGELOG\.md is empty/)
})

const BILL: Bill = {
  name: 'app',
  version: '1.0.0',
  license: 'Apache-2.0',
  timestamp: '2026-01-01T00:00:00.000Z',
  lock: {
    packages: {
      '': { version: '1.0.0' },
      'node_modules/b/node_modules/@x/a': { version: '2.0.0', integrity: 'sha512-AAEC', license: 'MIT' },
      'node_modules/@x/a': { version: '2.0.0', integrity: 'sha512-AAEC', license: 'MIT' },
      'node_modules/b': { version: '1.0.0', license: '(MIT OR Apache-2.0)' },
      'node_modules/test-only': { version: '1.0.0', dev: true },
    },
  },
  images: {
    operator: [{ name: 'libstdc++6', version: '12.2.0-14', architecture: 'amd64' }],
    trainer: [{ name: 'libstdc++6', version: '12.2.0-14', architecture: 'amd64' }],
  },
}

test('the SBOM has the production packages, each once, and the packages of the images', () => {
  const { components } = sbomOf(BILL) as { readonly components: readonly { readonly purl: string }[] }
  assert.deepEqual(components, [
    {
      type: 'library',
      'bom-ref': 'pkg:npm/%40x/a@2.0.0',
      name: '@x/a',
      version: '2.0.0',
      purl: 'pkg:npm/%40x/a@2.0.0',
      hashes: [{ alg: 'SHA-512', content: '000102' }],
      licenses: [{ license: { id: 'MIT' } }],
    },
    {
      type: 'library',
      'bom-ref': 'pkg:npm/b@1.0.0',
      name: 'b',
      version: '1.0.0',
      purl: 'pkg:npm/b@1.0.0',
      licenses: [{ expression: '(MIT OR Apache-2.0)' }],
    },
    {
      type: 'library',
      'bom-ref': 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64',
      name: 'libstdc++6',
      version: '12.2.0-14',
      purl: 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?arch=amd64',
      properties: [
        { name: 'ml-operator:image', value: 'operator' },
        { name: 'ml-operator:image', value: 'trainer' },
      ],
    },
  ])
})

test('the serial number of the SBOM depends on the content only', () => {
  const serial = (bill: Bill): string => (sbomOf(bill) as { readonly serialNumber: string }).serialNumber
  assert.match(serial(BILL), /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(serial(BILL), serial(structuredClone(BILL)))
  assert.notEqual(serial(BILL), serial({ ...BILL, images: {} }))
})

test('packages that are removed but configured are not installed', () => {
  const entry = (name: string, status: string) =>
    `Package: ${name}\nStatus: ${status}\nArchitecture: amd64\nVersion: 1\nDescription: a\n b: c\n`
  const status = [entry('a', 'install ok installed'), entry('b', 'deinstall ok config-files')].join('\n')
  assert.deepEqual(installedPackages(status), [{ name: 'a', version: '1', architecture: 'amd64' }])
})

test('install.yaml has one image for the operator and its agent', () => {
  const deployment = `kind: Deployment
spec:
  template:
    spec:
      containers:
        - name: operator
          image: ml-operator:0.1.0
          env:
            - name: AGENT_IMAGE
              value: ml-operator:0.1.0
`
  const changed = withImage(`kind: Service\nmetadata:\n  name: operator\n---\n${deployment}`, 'r/o:1')
  assert.equal(
    changed,
    `kind: Service\nmetadata:\n  name: operator\n---\n${deployment.replaceAll('ml-operator:0.1.0', 'r/o:1')}`,
  )
  assert.throws(() => withImage('kind: Service\n', 'r/o:1'), /found 0/)
})

test('sha256sum accepts the checksums', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'checksums-'))
  t.after(() => rm(directory, { recursive: true }))
  for (const name of ['b', 'a']) await writeFile(join(directory, name), name)
  await writeChecksums(directory)
  const check = `cd "$0" && sha256sum --check --strict ${CHECKSUMS}`
  assert.equal(await runCommand(['bash', '-c', check, directory]), 'a: OK\nb: OK\n')
})
