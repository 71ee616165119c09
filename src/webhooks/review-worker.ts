/** The conversion thread: answers one review at a time. See `review-thread.ts`. */
import { parentPort } from 'node:worker_threads'
import { answerBytes } from './review-bytes.ts'

parentPort?.on('message', (body: Uint8Array) => {
  const answer = answerBytes(body)
  parentPort?.postMessage(answer, [answer.body.buffer as ArrayBuffer])
})
