/** The inputs of the transition and edit campaigns, without a cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crdSchemas, nameOfKind, specSchema } from '../objects/crd-schemas.ts'
import { effectOf, effects, REJECTED } from '../objects/effects.ts'
import { containersOf, leavesOf, placesOf } from '../objects/leaves.ts'
import { operations } from '../objects/transition-campaign.ts'
import { transitionsOf } from '../objects/transitions.ts'
import { tolerated, toleranceOf } from '../objects/tolerated.ts'
import { fullSpecs } from '../objects/full-specs.ts'

const schemas = await crdSchemas()

describe('the leaves of our schemas', () => {
  for (const kind of schemas)
    test(`${nameOfKind(kind.resource)}: every leaf is mapped to a child or to a reason`, () => {
      const leaves = leavesOf(specSchema(kind)).map(({ path }) => path)
      assert.ok(leaves.length > 5)
      const unmapped = leaves.filter((leaf) => effectOf(nameOfKind(kind.resource), leaf) === undefined)
      assert.deepEqual(unmapped, [])
    })

  test('an effect names children or a reason, never both', () => {
    for (const effect of Object.values(effects).flat())
      assert.notEqual(effect.changes === undefined, effect.nothing === undefined, String(effect.path))
  })

  test('an unmapped leaf is found', () => {
    assert.equal(effectOf('ml.example.com/v1 TrainingJob', 'somethingNew'), undefined)
  })

  for (const kind of schemas.filter(({ resource }) => resource.version === 'v1'))
    test(`${nameOfKind(kind.resource)}: live objects have every leaf`, () => {
      const subjects = fullSpecs.filter(({ subject }) => nameOfKind(subject.resource) === nameOfKind(kind.resource))
      const present = subjects.flatMap(({ subject: { object } }) => {
        const { spec } = JSON.parse(JSON.stringify(object)) as { spec: object }
        const open = containersOf(specSchema(kind), spec).filter(({ path }) => path.endsWith('{}'))
        return [...placesOf(specSchema(kind), spec), ...open].map(({ path }) => path)
      })
      const allowed = leavesOf(specSchema(kind)).filter(
        ({ path }) => effectOf(nameOfKind(kind.resource), path)?.nothing !== REJECTED,
      )
      const absent = allowed.filter(({ path }) => !present.includes(path))
      assert.deepEqual(
        absent.map(({ path }) => path),
        [],
      )
    })
})

describe('transitions', () => {
  test('change each leaf and remove it', () => {
    const schema = { type: 'object', properties: { on: { type: 'boolean' }, n: { type: 'integer', minimum: 1 } } }
    const found = transitionsOf(schema, { on: true, n: 2 }).map(({ what }) => what)
    assert.ok(
      ['on: true → false', 'on removed', 'n: 2 → 3', 'n: 2 → 1', 'n removed'].every((one) => found.includes(one)),
    )
  })

  test('are at least 1,000, and each has its own name', async () => {
    const ids = (await operations()).map(({ id }) => id)
    assert.ok(ids.length >= 1_000, String(ids.length))
    assert.equal(new Set(ids).size, ids.length)
  })
})

describe('tolerated changes by hand', () => {
  test('have reasons', () => assert.ok(tolerated.every(({ reason }) => reason.length > 20)))

  test('do not include what decides where traffic goes', () => {
    assert.equal(toleranceOf('Service', 'spec.selector{}'), undefined)
    assert.equal(toleranceOf('Deployment', 'spec.template.spec.containers[0].image'), undefined)
  })
})
