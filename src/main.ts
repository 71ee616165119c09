/**
 * ml-operator: one program with several commands, each loaded only when it is called. Only this module reads the command
 * line; it passes the environment on to the commands. `src/source-rules.test.ts` checks it.
 */
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
  if (command !== 'operator') throw new UsageError(`unknown command '${command}'`)
  const { operator } = await import('./operator.ts')
  await operator(args, process.env)
}

async function help(): Promise<string> {
  const { operatorHelp } = await import('./operator.ts')
  const { checkHelp } = await import('./check.ts')
  const { imagesHelp } = await import('./images.ts')
  return `ml-operator: from distributed training to live traffic

Usage: ml-operator operator [flags]
       ml-operator check [flags]
       ml-operator images [flags]
       ml-operator agent NAME [flags]

Commands
  operator         reconcile TrainingJobs and ModelDeployments
  check            train and serve a tiny model, to show that an installation works
  images           print the images that the operator may start
${agentHelp}

Flags of operator
${operatorHelp}

Flags of check
${checkHelp}

Flags of images
${imagesHelp}
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
