import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amountsOf, podRequests, times, total } from './requests.ts'

type Amounts = Record<string, string>

const container = (requests: Amounts, limits: Amounts = {}) => ({
  name: 'c',
  image: 'i',
  resources: { requests, limits },
})

test('adds up containers and sidecars, or the largest init container beside the sidecars', () => {
  const sidecar = { ...container({ cpu: '100m' }), restartPolicy: 'Always' }
  const pod = { containers: [container({ cpu: '1' }), container({ cpu: '500m', memory: '1Gi' })] }
  assert.deepEqual(amountsOf(podRequests({ ...pod, initContainers: [sidecar] })), {
    cpu: '1600m',
    memory: '1073741824',
  })
  const init = container({ cpu: '2', memory: '1Mi' })
  const requests = amountsOf(podRequests({ ...pod, initContainers: [sidecar, init] }))
  assert.deepEqual(requests, { cpu: '2100m', memory: '1073741824' })
})

test('uses a limit where there is no request, and omits nothing but 0', () => {
  const limits = { 'nvidia.com/gpu': '8', cpu: '4' }
  const pod = { containers: [container({ cpu: '1n', memory: '0' }, limits)] }
  assert.deepEqual(amountsOf(podRequests(pod)), { cpu: '1n', 'nvidia.com/gpu': '8' })
})

test('multiplies and adds exactly', () => {
  const one = podRequests({ containers: [container({ cpu: '333m' })] })
  assert.deepEqual(amountsOf(total([times(one, 3), one])), { cpu: '1332m' })
})
