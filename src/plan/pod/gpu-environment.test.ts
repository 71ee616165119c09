import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gpuEnvironment } from './gpu-environment.ts'

const cases: readonly [string, Readonly<Record<string, string>>, boolean][] = [
  ['no device', { cpu: '1', memory: '1Gi', 'hugepages-2Mi': '2Mi' }, true],
  ['zero GPUs', { 'nvidia.com/gpu': '0' }, true],
  ['GPUs', { cpu: '1', 'nvidia.com/gpu': '2' }, false],
  ['a part of a GPU', { 'nvidia.com/mig-1g.5gb': '1' }, false],
  ['devices of others', { 'amd.com/gpu': '1' }, false],
]

for (const [name, limits, isHidden] of cases) {
  test(`${name}: GPUs are ${isHidden ? 'hidden' : 'left to the device plugin'}`, () => {
    const hidden = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }]
    assert.deepEqual(gpuEnvironment({ requests: {}, limits }), isHidden ? hidden : [])
    assert.deepEqual(gpuEnvironment({ requests: limits, limits: {} }), isHidden ? hidden : [])
  })
}
