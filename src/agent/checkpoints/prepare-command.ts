/** `ml-operator agent checkpoints-prepare`, before an attempt. */
import type { Flags } from '../../command/flags.ts'
import { defaultRetryPolicy } from '../transfer/retry.ts'
import { checkpointsCommand, keepLastFlag, parseKeepLast, printLine, required, storageFlag } from './command.ts'
import { prepareCheckpoints } from './prepare.ts'
import { originOf, storeOf } from './store-of.ts'

const flags = {
  storage: storageFlag,
  'keep-last': keepLastFlag,
  'resume-from': { value: 'ROOT', help: 'where to copy a checkpoint from if there is none: a root, or one checkpoint' },
} as const satisfies Flags

export const prepareCommand = checkpointsCommand(flags, async (given, { env, signal }) => {
  const store = await storeOf(required('storage', given.storage), env)
  const keepLast = parseKeepLast(given['keep-last'])
  const origin = given['resume-from'] === undefined ? undefined : await originOf(given['resume-from'], env)
  const options = { keepLast, signal, retryPolicy: defaultRetryPolicy, log: printLine, now: Date.now }
  return prepareCheckpoints(store, origin, options)
})
