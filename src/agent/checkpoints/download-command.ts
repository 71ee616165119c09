/** `ml-operator agent checkpoints-download`, in an init container of each worker. */
import { type Flags, UsageError } from '../../command/flags.ts'
import { defaultRetryPolicy } from '../transfer/retry.ts'
import { checkpointsCommand, printLine, required } from './command.ts'
import { copyAs } from './copy.ts'
import { originOf, storeOf } from './store-of.ts'

const flags = {
  from: { value: 'ROOT/NAME', help: 'the checkpoint, such as s3://bucket/prefix/step-00001000' },
  to: { value: 'DIR', help: 'directory of checkpoints' },
} as const satisfies Flags

export const downloadCommand = checkpointsCommand(flags, async (given, { env, signal }) => {
  const { one, shown } = await originOf(required('from', given.from), env)
  if (one === undefined) throw new UsageError(`--from must end with the name of a checkpoint, but is ${shown}`)
  const to = await storeOf(required('to', given.to), env)
  printLine(`copying ${shown} to ${to.shown}`)
  await copyAs({ from: one.store, to, name: one.name }, { retryPolicy: defaultRetryPolicy, signal })
  printLine(`${to.shown}/${one.name} is complete`)
  return undefined
})
