import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../kube/resources.ts'
import { trimmedPod, trimmedServer, trimmedWorker } from './trimmed-pod.ts'

const pod = (spec: object): Pod => ({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }], ...spec } }) as Pod

for (const trim of [trimmedPod, trimmedServer, trimmedWorker])
  test(`${trim.name} keeps the scheduler of a pod until it has a node`, () => {
    const placed = ({ spec }: Pod) => [spec?.schedulerName, spec?.nodeName]
    assert.deepEqual(placed(trim(pod({ schedulerName: 'volcano' }))), ['volcano', undefined])
    assert.deepEqual(placed(trim(pod({ schedulerName: 'volcano', nodeName: 'n' }))), [undefined, 'n'])
  })
