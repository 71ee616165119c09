/** Objects of all our kinds, valid by their schemas and at their limits; the same for the same seed. */
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { pick, type Random, seeded } from '../random/seeded.ts'
import { type KindSchema, nameOfKind, specSchema } from './crd-schemas.ts'
import { edgeValue } from './edge-value.ts'
import { plausible } from './plausible.ts'

export interface Poison {
  readonly resource: Resource
  readonly object: KubeObject & { readonly spec: object }
}

/** Bytes. The API server accepts more, but a campaign would then measure etcd. */
const LARGEST = 200_000

/** The share of specs that are not adjusted to rules over several fields. */
const RAW = 0.1

/** The object with this number; `namespace` is where it is to be created. */
export function poisonObject(schemas: readonly KindSchema[], seed: number, index: number, namespace: string): Poison {
  const kind = schemas[index % schemas.length]
  if (!kind) throw new Error('no schemas')
  const name = nameFor(kind, index, seeded(seed + index))
  for (let attempt = 0; ; attempt += 1) {
    const random = seeded(Math.imul(seed, 31) + index * 97 + attempt)
    const spec = specFor(kind, random)
    const object = {
      apiVersion: `${kind.resource.group}/${kind.resource.version}`,
      kind: kind.resource.kind,
      metadata: { name, namespace, ...marks(random) },
      spec,
    }
    if (JSON.stringify(object).length <= LARGEST) return { resource: kind.resource, object }
  }
}

function specFor(kind: KindSchema, random: Random): object {
  const options = { random, density: pick(random, [0.1, 0.4, 0.9]), most: pick(random, [3, 3, 8, 64]) }
  const spec = edgeValue(specSchema(kind), options) as Record<string, unknown>
  return random() < RAW ? spec : plausible(nameOfKind(kind.resource), spec, random)
}

/** A unique name, as short or as long as the kind allows. */
function nameFor({ schema }: KindSchema, index: number, random: Random): string {
  const { maxLength = 63 } = schema.properties?.['metadata']?.properties?.['name'] ?? {}
  const name = `p${index.toString(36)}`
  return random() < 0.3 ? `${name}-${'x'.repeat(maxLength - name.length - 1)}` : name
}

/** Labels and annotations as users and tools write them, our own among them. */
function marks(random: Random): object {
  if (random() < 0.6) return {}
  const junk = ['', 'null', '[]', '{"/spec/numWorkers":1e99,"/spec/__proto__/x":1}', '1'.repeat(4_096), '\u{1F600}']
  const annotation = pick(random, [
    'ml.example.com/v1-fields',
    'trainingjob.ml.example.com/first-attempt',
    'commit.runtime/intent',
    'example.com/note',
  ])
  const labels = { app: pick(random, ['', 'a', 'x'.repeat(63)]), 'example.com/team': 'a' }
  return { annotations: { [annotation]: pick(random, junk) }, labels }
}
