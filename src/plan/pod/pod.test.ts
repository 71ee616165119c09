/** Parts of a PodSpec that all kinds of pods share. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schedulingOf } from './scheduling.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from './security-context.ts'
import { serviceAccountOf } from './service-account.ts'
import { sharedMemoryMount, sharedMemoryVolume } from './shared-memory.ts'

const seccompProfile = { type: 'RuntimeDefault' }

test('security contexts pass Pod Security restricted', () => {
  const ids = { runAsUser: 7, runAsGroup: 7, fsGroup: 7 }
  assert.deepEqual(restrictedPodSecurity(7), { runAsNonRoot: true, ...ids, seccompProfile })
  const fsGroupChangePolicy = 'OnRootMismatch'
  assert.equal(restrictedPodSecurity(7, { fsGroupChangePolicy }).fsGroupChangePolicy, fsGroupChangePolicy)
  const container = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  assert.deepEqual(restrictedContainerSecurity(), container)
  const readOnlyRootFilesystem = true
  assert.deepEqual(restrictedContainerSecurity({ readOnlyRootFilesystem }), { ...container, readOnlyRootFilesystem })
})

test('the volume for shared memory is the one that is mounted', () => {
  assert.equal(sharedMemoryVolume('1Gi').name, sharedMemoryMount.name)
  assert.deepEqual(sharedMemoryVolume('1Gi').emptyDir, { medium: 'Memory', sizeLimit: '1Gi' })
})

const gpu = { gpuNodeSelector: { gpu: 'yes', pool: 'a' }, gpuTolerations: [{ key: 'gpu' }] }

for (const [name, spec, usesGpus, expected] of [
  ['nothing', {}, false, {}],
  ['GPUs', {}, true, { nodeSelector: { gpu: 'yes', pool: 'a' }, tolerations: [{ key: 'gpu' }] }],
  [
    'a node selector of the spec',
    { nodeSelector: { pool: 'b' } },
    true,
    { nodeSelector: { gpu: 'yes', pool: 'b' }, tolerations: [{ key: 'gpu' }] },
  ],
  ['a toleration of the spec', { tolerations: [{ key: 'spot' }] }, false, { tolerations: [{ key: 'spot' }] }],
  ['names', { schedulerName: 's', priorityClassName: 'p' }, false, { schedulerName: 's', priorityClassName: 'p' }],
] as const)
  test(`scheduling by ${name}`, () => assert.deepEqual(schedulingOf(spec, usesGpus, gpu), expected))

test('a pod gets a token only with an account of its own', () => {
  assert.deepEqual(serviceAccountOf({}), { automountServiceAccountToken: false })
  const imagePullSecrets = [{ name: 'registry' }]
  const account = { serviceAccountName: 'trainer', imagePullSecrets }
  assert.deepEqual(serviceAccountOf(account), account)
})
