/**
 * ml-operator: one program with several commands, each loaded only when it is called. Only this module reads the command
 * line; it passes the environment on to the commands. `src/source-rules.test.ts` checks it.
 */
import { once } from 'node:events'
import { agentHelp, runAgent } from './agent/commands.ts'
import { UsageError } from './command/flags.ts'
import { ConfigError } from './kube/config-error.ts'
import { stopSignal } from './command/stop-signal.ts'

async function main([command, ...args]: readonly string[]): Promise<void> {
  if (command === 'agent' && args[0]?.startsWith('-') !== true) {
    process.exitCode = await runAgent(args, { env: process.env, signal: stopSignal() })
    return
  }
  if (
    command === undefined ||
    command === 'help' ||
    [command, ...args].some((arg) => arg === '--help' || arg === '-h')
  ) {
    process.stdout.write(await help())
    return
  }
  if (command === 'check') {
    const { check } = await import('./check.ts')
    await check(args, process.env, stopSignal())
    return
  }
  if (command === 'images') {
    const { images } = await import('./images.ts')
    process.stdout.write(await images(args, process.env))
    return
  }
  if (command === 'backup') {
    const { backup } = await import('./backup.ts')
    await backup(args, process.env, { write: writeOut, say })
    return
  }
  if (command === 'restore') {
    const { restore } = await import('./restore.ts')
    process.exitCode = await restore(args, process.env, say)
    return
  }
  if (command !== 'operator') throw new UsageError(`unknown command '${command}'`)
  const { operator } = await import('./operator.ts')
  await operator(args, process.env)
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Waits for a slow reader, so that memory does not grow with the output. */
async function writeOut(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

async function help(): Promise<string> {
  const { backupHelp } = await import('./backup.ts')
  const { restoreHelp } = await import('./restore.ts')
  const { operatorHelp } = await import('./operator.ts')
  const { checkHelp } = await import('./check.ts')
  const { imagesHelp } = await import('./images.ts')
  return `ml-operator: from distributed training to live traffic

Usage: ml-operator operator [flags]
       ml-operator check [flags]
       ml-operator images [flags]
       ml-operator backup [flags] > FILE
       ml-operator restore [flags] < FILE
       ml-operator agent NAME [flags]

Commands
  operator         reconcile TrainingJobs and ModelDeployments
  check            train and serve a tiny model, to show that an installation works
  images           print the images that the operator may start
  backup           print all objects of our kinds with their status
  restore          create the objects of a backup, with their status
${agentHelp}

Flags of operator
${operatorHelp}

Flags of check
${checkHelp}

Flags of images
${imagesHelp}

Flags of backup
${backupHelp}

Flags of restore
${restoreHelp}
`
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    const isUsageError = error instanceof UsageError
    const isExpected = isUsageError || error instanceof ConfigError
    process.stderr.write(
      isExpected ? `ml-operator: ${error.message}\n` : `ml-operator: ${String((error as Error).stack)}\n`,
    )
    if (isUsageError) process.stderr.write('Try: ml-operator --help\n')
    process.exitCode = isUsageError ? 2 : 1
  }
}
