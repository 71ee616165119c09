/**
 * The commands that run inside a tenant's pod: `ml-operator agent NAME`. Each is loaded only when it is called, so that the
 * operator's process never loads the libraries of object stores.
 */
import { helpOf, parseFlags, UsageError, type Flags } from '../command/flags.ts'

export interface AgentCommand {
  readonly flags: Flags
  /** Resolves to the exit code. The signal aborts when the pod is terminated. */
  run(call: AgentCall): Promise<number>
}

export interface AgentCall {
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
}

interface Entry {
  readonly help: string
  readonly load: () => Promise<AgentCommand>
}

const commands: Readonly<Record<string, Entry>> = {
  fetch: {
    help: 'download a model from an object store or the web into a directory',
    load: async () => (await import('./fetch/command.ts')).fetchCommand,
  },
  router: {
    help: 'configure Envoy by the route of a model, and report its traffic',
    load: async () => (await import('./router/command.ts')).routerCommand,
  },
  'checkpoints-prepare': {
    help: 'find the newest complete checkpoint, delete old ones, and import one into an empty storage',
    load: async () => (await import('./checkpoints/prepare-command.ts')).prepareCommand,
  },
  'checkpoints-download': {
    help: 'copy one checkpoint into a directory',
    load: async () => (await import('./checkpoints/download-command.ts')).downloadCommand,
  },
  'checkpoints-upload': {
    help: 'copy new checkpoints of a directory to a bucket until it is terminated',
    load: async () => (await import('./checkpoints/upload-command.ts')).uploadCommand,
  },
  'checkpoints-delete': {
    help: 'delete all checkpoints, and nothing else',
    load: async () => (await import('./checkpoints/delete-command.ts')).deleteCommand,
  },
  'tiny-train': {
    help: 'train the model of `ml-operator check`',
    load: async () => (await import('./tiny-model/train.ts')).tinyTrainCommand,
  },
  'tiny-serve': {
    help: 'serve the model of `ml-operator check`',
    load: async () => (await import('./tiny-model/serve.ts')).tinyServeCommand,
  },
}

/** One line per command. */
export const agentHelp = Object.entries(commands)
  .map(([name, { help }]) => `  agent ${name.padEnd(20)} ${help}`)
  .join('\n')

export async function runAgent([name, ...args]: readonly string[], call: Omit<AgentCall, 'flags'>): Promise<number> {
  const entry = name === undefined || !Object.hasOwn(commands, name) ? undefined : commands[name]
  if (entry === undefined) {
    throw new UsageError(`unknown agent command: use one of ${Object.keys(commands).join(', ')}`)
  }
  const command = await entry.load()
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`ml-operator agent ${name}: ${entry.help}\n\nFlags\n${helpOf(command.flags)}\n`)
    return 0
  }
  return command.run({ ...call, flags: parseFlags(command.flags, args, call.env) })
}
