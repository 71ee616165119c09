import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trainingJob } from '../../../../test/sim/training-cluster.ts'
import { type HistoryDocument, historyDocument, shortened } from './history.ts'

const log = (pod: string, text: string) => ({ pod, role: 'worker', index: 0, attempt: 1, log: text })
const points = (count: number) => Array.from({ length: count }, (_, at) => ({ time: String(at), attempt: 1 }))

function whole(logs: readonly string[], metrics: number): HistoryDocument {
  const workerStatuses = [{ workerId: 0 }]
  const job = { ...trainingJob(), status: { state: 'Completed' as const, workerStatuses } }
  return historyDocument(job, { logs: logs.map((text, at) => log(String(at), text)), metrics: points(metrics) })
}

test('the longest log is cut first, the earliest of equal ones, and keeps its end', () => {
  const long = `${'a'.repeat(4_000)}${'z'.repeat(4_000)}`
  const cut = shortened(whole(['short', long, long], 200))
  assert.deepEqual(
    cut?.logs.map((one) => one.log),
    ['short', 'z'.repeat(4_000), long],
  )
  assert.equal(cut?.metrics.length, 200)
})

test('then every second point of the metrics, then the workers, and it ends', () => {
  const sizes: string[] = []
  for (let next: HistoryDocument | undefined = whole(['short'], 50); next; next = shortened(next))
    sizes.push(`${next.metrics.length} ${next.status.workerStatuses?.length ?? 0}`)
  assert.deepEqual(sizes, ['50 1', '25 1', '13 1', '13 0'])
})
