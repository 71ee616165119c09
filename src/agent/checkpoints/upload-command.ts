/** `ml-operator agent checkpoints-upload`, a sidecar beside the worker that writes checkpoints. */
import type { Flags } from '../../command/flags.ts'
import { defaultRetryPolicy } from '../transfer/retry.ts'
import { checkpointsCommand, keepLastFlag, parseKeepLast, printLine, required } from './command.ts'
import { reporter } from './report.ts'
import { storeOf } from './store-of.ts'
import { Uploader } from './uploader.ts'

const flags = {
  from: { value: 'DIR', help: 'directory of checkpoints' },
  to: { value: 'ROOT', help: 'where to upload them: s3://bucket/prefix or gs://bucket/prefix' },
  'keep-last': keepLastFlag,
} as const satisfies Flags

export const uploadCommand = checkpointsCommand(flags, async (given, { env, signal }) => {
  const uploader = new Uploader({
    from: await storeOf(required('from', given.from), env),
    to: await storeOf(required('to', given.to), env),
    keepLast: parseKeepLast(given['keep-last']),
    report: reporter(env, printLine),
    retryPolicy: defaultRetryPolicy,
    log: printLine,
    now: Date.now,
    stop: signal,
  })
  await uploader.run()
  return undefined
})
