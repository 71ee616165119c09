/** Manifests in our documents are accepted by a real API server; their commands are run here or by the named tests. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { kubectlFor } from '../../testenv/kubectl.ts'
import { installApi } from '../cluster/api.ts'
import { sharedCluster } from '../cluster/shared-cluster.ts'
import { blocksIn, readmeCommands, ROOT } from '../documents/blocks.ts'

before(async () => {
  const { client } = await sharedCluster()
  await installApi(client)
})

const documents = [
  'README.md',
  'docs/quickstart.md',
  'docs/training.md',
  'docs/schedules.md',
  'docs/tracking.md',
  'docs/serving.md',
  'docs/rollouts.md',
  'docs/gpu.md',
  'docs/pod-template.md',
  'docs/multi-tenancy.md',
  'docs/queues.md',
  'docs/cost.md',
  'docs/migration.md',
]

for (const document of documents) {
  test(`${document}: every manifest is accepted unchanged`, async () => {
    const { kubeconfig } = await sharedCluster()
    const kubectl = kubectlFor(await provideBinaries([kubernetes]), kubeconfig)
    const manifests = blocksIn(document).filter(({ language, label }) => language === 'yaml' && label === '')
    assert.ok(manifests.length > 0)
    for (const { text } of manifests) {
      const objects = parseAllDocuments(text).map((one) => one.toJS() as object)
      await kubectl.with(objects, 'apply', '--dry-run=server', '--validate=strict')
    }
  })
}

test('README.md: every command is run by a test', () => {
  // `make demo` and `make demo-down` are run by test/node/demo.test.ts, the commands for kind by test/node/install.test.ts;
  // `make test` cannot run itself, but is what CI runs, and nothing else.
  assert.deepEqual(readmeCommands('Try it'), ['make demo', 'make demo-down', 'make test'])
  const [kind = ''] = readmeCommands('On kind')
  const [make = '', load = '', ...install] = kind.split('\n')
  assert.deepEqual([make, load], ['make image IMAGES=operator', 'kind load image-archive dist/images/operator.tar'])
  assert.match(install[0] ?? '', /^helm install ml-operator charts\/ml-operator /)
  // Tests have no registry: the commands differ from those for kind by the push and the name of the image.
  const [registry = ''] = readmeCommands('From your registry')
  const image = 'registry.example.com/ml-operator'
  // test/node/install.test.ts runs `pull` and `push`, with a directory as the registry.
  const pull = 'buildah pull docker-archive:dist/images/operator.tar'
  const push = `buildah push docker.io/library/ml-operator:0.1.0 docker://${image}:0.1.0`
  const named = `${install[0]} \\\n  --set image.repository=${image}`
  assert.equal(registry, [make, pull, push, named, ...install.slice(1)].join('\n'))
  assert.deepEqual(readmeCommands('Install'), [])
  const [outside, inside = ''] = readmeCommands('Without access to the internet')
  assert.equal(outside, 'make release\nmake list-images')
  const fromRelease = registry
    .replace(`${make}\n`, 'sha256sum --check SHA256SUMS\n')
    .replace('dist/images/operator.tar', 'image-operator-0.1.0-linux-amd64.tar')
    .replace(' charts/ml-operator ', ' ml-operator-0.1.0.tgz ')
    .replace(
      `repository=${image}`,
      `repository=${image} \\\n  --set config.serving.routerImage=registry.example.com/envoy:v1.38.3`,
    )
  assert.equal(inside, fromRelease)
  assert.match(readFileSync(join(ROOT, '.ci', 'run'), 'utf8'), /\nexec make test\n$/)
})

test('every `make` target that our documents name exists', () => {
  const text = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: ROOT })]
    .map((document) => readFileSync(join(ROOT, document), 'utf8'))
    .join('\n')
  const targets = new Set([...text.matchAll(/(?:`|^|\d )make ([a-z][a-z0-9-]+)/gm)].map(([, target = '']) => target))
  assert.ok(targets.size > 5)
  const makefile = readFileSync(join(ROOT, 'Makefile'), 'utf8')
  for (const target of targets) assert.match(makefile, new RegExp(`^${target}:`, 'm'))
})
