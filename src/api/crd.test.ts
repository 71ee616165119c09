/** Checks every node of every CRD against the Kubernetes API conventions. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customResourceDefinition, objectSchema } from './crd.ts'
import { crdName } from './kind.ts'
import { CATEGORY, kinds } from './kinds.ts'
import { type JsonSchema, structural } from './structural.ts'
import { trainingJobV1 } from './trainingjob.v1.ts'

interface Node {
  readonly path: string
  readonly schema: JsonSchema
}

const roots: readonly Node[] = kinds.flatMap((kind) =>
  kind.versions.map((version) => ({
    path: `${crdName(kind)}/${version.name}`,
    schema: objectSchema(kind, version, structural),
  })),
)

function nodes({ path, schema }: Node): Node[] {
  const children: Node[] = [
    ...Object.entries(schema.properties ?? {}).map(([name, child]) => ({ path: `${path}.${name}`, schema: child })),
    ...(schema.items ? [{ path: `${path}[]`, schema: schema.items }] : []),
    ...(schema.additionalProperties ? [{ path: `${path}{}`, schema: schema.additionalProperties }] : []),
  ]
  return [{ path, schema }, ...children.flatMap(nodes)]
}

const all = roots.flatMap(nodes)

function check(name: string, isWrong: (node: Node) => boolean): void {
  test(name, () => {
    assert.deepEqual(
      all.filter(isWrong).map(({ path }) => path),
      [],
    )
  })
}

const isMetadata = ({ path }: Node): boolean => /\.metadata(\.name)?$/.test(path)
const mayBeAnything = ({ schema }: Node): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

test('there is something to check', () => {
  assert.equal(roots.length, 6)
  assert.ok(all.length > 250, `${all.length} nodes`)
})

check('every node has a type', (node) => {
  const { schema } = node
  return schema.type === undefined && !schema['x-kubernetes-int-or-string'] && !mayBeAnything(node)
})

check('every node has a description that ends with a period', (node) => {
  return !isMetadata(node) && !/^[^\s].*[.…]$/s.test(node.schema.description ?? '')
})

check('every list has a list type and a maximum length', ({ schema }) => {
  const { type, maxItems, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys } = schema
  if (type !== 'array') return false
  return maxItems === undefined || listType === undefined || (listType === 'map') !== (keys !== undefined)
})

check('keys of list maps are required or defaulted scalars', ({ schema }) => {
  const entry = schema.items
  return (schema['x-kubernetes-list-map-keys'] ?? []).some((key) => {
    const property = entry?.properties?.[key]
    const isThere = entry?.required?.includes(key) || property?.default !== undefined
    return property?.type === 'object' || property?.type === 'array' || !isThere
  })
})

check('objects have either properties or arbitrary keys, not both', ({ schema }) => {
  return schema.properties !== undefined && schema.additionalProperties !== undefined
})

check('only hyperparameters and pod templates preserve unknown fields', (node) => {
  return mayBeAnything(node) && !/\.spec\.hyperparameters(\.learningRate)?$|\.podTemplate\.spec\b/.test(node.path)
})

const floats =
  /\.status\.(activeVersions\[\]\.)?(metrics(\{\}|\.\w+)|resources\.gpuUtilization|cost\.(attempts\[\]\.|held\.)?(gpuHours|cpuHours|estimated|gpus|cpus|pricePerHour)|lastReport\.percent(PerSecond)?|rollout\.analysis\.(value|threshold|stableErrorRate|stableLatencyMs))$/
check(
  'only measurements are floating-point numbers',
  ({ path, schema }) => schema.type === 'number' && !floats.test(path),
)

check('every number has a format', ({ schema }) => {
  if (schema.type === 'integer') return schema.format !== 'int32' && schema.format !== 'int64'
  return schema.type === 'number' && schema.format !== 'double'
})

check('integers in a spec have a minimum', ({ path, schema }) => {
  return path.includes('.spec.') && schema.type === 'integer' && schema.minimum === undefined
})

check('strings with rules have a maximum length', ({ schema }) => {
  return schema.type === 'string' && schema['x-kubernetes-validations'] !== undefined && schema.maxLength === undefined
})

check('maps with rules have a maximum size', ({ path, schema }) => {
  return /resources\.(requests|limits)$/.test(path) && schema.type === 'object' && schema.maxProperties === undefined
})

const foreign = ['const', '$ref', 'patternProperties', 'propertyNames', 'uniqueItems', 'examples', '~kind', 'nullable']
check('no keyword that the API server rejects or ignores', ({ schema }) => {
  return foreign.some((keyword) => keyword in schema)
})

check('fields with a default are not required', ({ schema }) => {
  return (schema.required ?? []).some((name) => schema.properties?.[name]?.default !== undefined)
})

check('names are camelCase', ({ path }) => {
  const name = path.slice(path.lastIndexOf('.') + 1).replaceAll(/[[\]{}]/g, '')
  return path.includes('.spec') && !path.endsWith('/v1') && !/^[a-z][A-Za-z0-9]*$/.test(name)
})

check('no reference leaves the namespace', ({ path }) => /namespace/i.test(path.slice(path.indexOf('/v1'))))

check('every rule has a message with the field and the fix', ({ schema }) => {
  return (schema['x-kubernetes-validations'] ?? []).some(({ message }) => !/^[\w[\]. ]+ .*: /.test(message))
})

test('every CRD is in the category and has a status and one storage version', () => {
  for (const kind of kinds) {
    const { spec } = customResourceDefinition(kind)
    assert.deepEqual(Object(spec['names']).categories, [CATEGORY])
    assert.equal(kind.versions.filter(({ storage }) => storage).length, 1)
    for (const { subresources } of spec['versions'] as { readonly subresources: object }[])
      assert.ok('status' in subresources, `${kind.kind}: the status is not a subresource`)
    for (const version of kind.versions) {
      assert.ok('conditions' in version.status.properties)
      assert.ok('observedGeneration' in version.status.properties)
      assert.equal(version.columns.at(-1)?.name === 'Age' || version.columns.some(({ name }) => name === 'Age'), true)
    }
  }
})

test('short names are unique over all kinds', () => {
  const names = kinds.flatMap(({ shortNames }) => shortNames)
  assert.deepEqual([...new Set(names)], names)
  assert.deepEqual(names, ['tj', 'ts', 'md', 'ms'])
})

test('a running TrainingJob shows a time that counts up without writes', () => {
  const started = trainingJobV1.columns.find(({ name }) => name === 'Started')
  assert.deepEqual([started?.type, started?.jsonPath], ['date', '.status.startTime'])
})
