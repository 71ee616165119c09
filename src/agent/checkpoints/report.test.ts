import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answerWith, startReportServer } from '../../../test/python/report-server.ts'
import { reporter } from './report.ts'

const CHECKPOINT = { path: 's3://bucket/run/step-00000001', step: 1 }

test('reports with the token of the pod, which rotates', async (t) => {
  const { reports, env, setToken } = await startReportServer(t)
  const report = reporter(env, assert.fail)
  await report?.(CHECKPOINT)
  setToken('second-token')
  await report?.(CHECKPOINT)
  assert.deepEqual(
    reports.map(({ authorization, body }) => [authorization, body]),
    [
      ['Bearer first-token', { checkpoint: CHECKPOINT }],
      ['Bearer second-token', { checkpoint: CHECKPOINT }],
    ],
  )
})

test('a report that is rejected is not repeated; any other error is', async (t) => {
  const lines: string[] = []
  const rejecting = await startReportServer(t, answerWith(422))
  await reporter(rejecting.env, (line) => void lines.push(line))?.(CHECKPOINT)
  assert.match(lines.join(), /the operator rejects the report of s3:.*: 422/)
  const failing = await startReportServer(t, answerWith(503))
  await assert.rejects(async () => reporter(failing.env, assert.fail)?.(CHECKPOINT), /answers 503/)
  await failing.stop()
  await assert.rejects(async () => reporter(failing.env, assert.fail)?.(CHECKPOINT))
})

test('outside of the pods of the operator there is nothing to report to', async (t) => {
  const { env } = await startReportServer(t)
  assert.equal(reporter({}, assert.fail), undefined)
  assert.equal(reporter({ ...env, ML_OPERATOR_REPORT_URL: 'http://127.0.0.1/' }, assert.fail), undefined)
})
