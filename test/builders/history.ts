/** The history of a job, as a user reads it from its ConfigMap. */
import { gunzipSync } from 'node:zlib'
import type { ConfigMap } from '../../src/kube/resources.ts'
import type { HistoryDocument } from '../../src/plan/training/index.ts'

export function historyIn({ binaryData = {} }: ConfigMap): HistoryDocument {
  const data = Buffer.from(binaryData['history.json.gz'] ?? '', 'base64')
  return JSON.parse(gunzipSync(data).toString('utf8')) as HistoryDocument
}
