/** The owner of an object: every link of the chain must hold, and each is broken here once. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { KubeObject, ObjectMeta } from '../kube/object.ts'
import { controllerReference, isControlledBy, isDescendant } from './ownership.ts'

const owner: KubeObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { namespace: 'a', name: 'w', uid: 'owner' },
}

const deployment = (metadata: Partial<ObjectMeta> = {}): KubeObject =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: 'a',
      name: 'd',
      uid: 'deployment',
      ownerReferences: [controllerReference(owner)],
      ...metadata,
    },
    spec: { selector: { matchLabels: { app: 'd' } } },
  }) as KubeObject

const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'd-5f6', uid: 'rs', controller: true }

const pod = (metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    namespace: 'a',
    name: 'd-5f6-x',
    uid: 'pod',
    labels: { app: 'd', 'pod-template-hash': '5f6' },
    ownerReferences: [replicaSet],
    ...metadata,
  },
})

/** The one parent that is cached. */
const holding = (parent: KubeObject) => ({
  find: ({ kind }: Pick<KubeObject, 'kind'>, { namespace, name }: { namespace?: string; name: string }) =>
    kind === parent.kind && namespace === parent.metadata.namespace && name === parent.metadata.name
      ? parent
      : undefined,
})

test('only the controller reference counts', () => {
  const reference = controllerReference(owner)
  assert.equal(isControlledBy(pod({ ownerReferences: [reference] }), owner), true)
  assert.equal(isControlledBy(pod({ ownerReferences: [{ ...reference, controller: false }] }), owner), false)
  assert.equal(isControlledBy(pod({ ownerReferences: [{ ...reference, uid: 'namesake' }] }), owner), false)
})

describe('a pod of a Deployment', () => {
  test('is a descendant of the controller of the Deployment', () => {
    assert.equal(isDescendant(pod(), owner, holding(deployment())), true)
  })

  const broken: readonly (readonly [string, KubeObject, KubeObject])[] = [
    ['without the labels that the Deployment selects', pod({ labels: { 'pod-template-hash': '5f6' } }), deployment()],
    ['of another template', pod({ labels: { app: 'd', 'pod-template-hash': 'other' } }), deployment()],
    ['without a controller', pod({ ownerReferences: [{ ...replicaSet, controller: false }] }), deployment()],
    ['in another namespace', pod({ namespace: 'b' }), deployment()],
    ['of a Deployment that has another controller', pod(), deployment({ ownerReferences: [] })],
  ]
  for (const [what, child, parent] of broken) {
    test(`is none ${what}`, () => assert.equal(isDescendant(child, owner, holding(parent)), false))
  }
})

test('a pod of a child is a descendant by the uid of that child, not by its name', () => {
  const job = { ...deployment({ name: 'j', uid: 'job' }), apiVersion: 'batch/v1', kind: 'Job' }
  const reference = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'job', controller: true }
  assert.equal(isDescendant(pod({ ownerReferences: [reference] }), owner, holding(job)), true)
  const past = { ...reference, uid: 'before' }
  assert.equal(isDescendant(pod({ ownerReferences: [past] }), owner, holding(job)), false)
})
