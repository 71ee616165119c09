/** `ml-operator agent checkpoints-delete`, for the end of a job. */
import type { Flags } from '../../command/flags.ts'
import { defaultRetryPolicy } from '../transfer/retry.ts'
import { checkpointsCommand, printLine, required, storageFlag } from './command.ts'
import { deleteCheckpoints } from './delete.ts'
import { storeOf } from './store-of.ts'

const flags = { storage: storageFlag } as const satisfies Flags

export const deleteCommand = checkpointsCommand(flags, async (given, { env, signal }) => {
  const store = await storeOf(required('storage', given.storage), env)
  const count = await deleteCheckpoints(store, { retryPolicy: defaultRetryPolicy, signal })
  printLine(`deleted ${count} folders below ${store.shown}`)
  return undefined
})
