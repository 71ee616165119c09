import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withAdvice } from './missing-reference.ts'

const table: readonly (readonly [message: string, advice: string])[] = [
  [
    'pods "a" is forbidden: no PriorityClass with name high was found',
    ': create the PriorityClass high, or correct spec.scheduling.priorityClassName',
  ],
  [
    'pods "a" is forbidden: error looking up service account ns/x: serviceaccount "x" not found',
    ': create the ServiceAccount x, or correct spec.serviceAccountName',
  ],
  ['admission webhook "policy" denied the request', ''],
]

for (const [message, advice] of table)
  test(`${message} has ${advice === '' ? 'no advice' : 'advice'}`, () => {
    assert.equal(withAdvice(message), message + advice)
  })
