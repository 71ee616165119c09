/** `ml-operator agent fetch`: its flags, and the report of a failure in the termination log. */
import { writeFile } from 'node:fs/promises'

import { fetchFailureText } from '../../api/fetch-failure.ts'
import { type Flags, UsageError, type Values, parseInteger } from '../../command/flags.ts'
import type { AgentCall, AgentCommand } from '../commands.ts'
import { parseExpected } from '../transfer/checksum.ts'
import { failureOf } from './failure.ts'
import { fetchModel, type FetchRequest } from './fetch.ts'
import { layouts, type LayoutName } from './layout.ts'
import { relativePath } from '../transfer/relative-path.ts'
import { sourceOf } from './sources/source-of.ts'

const flags = {
  uri: {
    value: 'URI',
    help: 's3://bucket/key, gs://bucket/key, az://container/key, http(s)://…, hf://owner/model[:revision]',
  },
  to: { value: 'DIR', help: 'target directory' },
  checksum: { value: 'sha256:HEX', help: 'expected checksum of the file, or of the sha256sum listing of a directory' },
  layout: {
    value: 'LAYOUT',
    default: 'file',
    help: 'file: unchanged; repository: DIR/NAME/VERSION/…, as Triton expects it',
  },
  'model-name': { value: 'NAME', help: 'name of the model in a repository' },
  connections: { value: 'N', default: '8', help: 'number of parallel downloads' },
  'termination-log': { value: 'FILE', default: '/dev/termination-log', help: 'file for the reason of a failure' },
} as const satisfies Flags

/** The exit code of a process that SIGTERM has ended, as in a shell. */
const TERMINATED = 143

export const fetchCommand: AgentCommand = { flags, run }

async function run(call: AgentCall): Promise<number> {
  const given = call.flags as Values<typeof flags>
  try {
    const request = requestOf(given)
    await fetchModel(request, { source: await sourceOf(request.uri, call.env), log: printLine, signal: call.signal })
    return 0
  } catch (error) {
    // The pod was terminated: that is no failure.
    if (call.signal.aborted) return TERMINATED
    const failure = failureOf(error, given.to ?? '')
    process.stderr.write(`${failure.reason}: ${failure.message}\n`)
    await writeFile(given['termination-log'], fetchFailureText(failure)).catch((cause: unknown) =>
      process.stderr.write(`cannot write the termination log: ${String(cause)}\n`),
    )
    return error instanceof UsageError ? 2 : 1
  }
}

function requestOf(given: Values<typeof flags>): FetchRequest {
  if (given.uri === undefined) throw new UsageError('--uri is required: the location of the model')
  if (given.to === undefined) throw new UsageError('--to is required: the target directory')
  const layout = given.layout as LayoutName
  if (!layouts.includes(layout)) throw new UsageError(`--layout must be one of ${layouts.join(', ')}`)
  if (layout === 'repository' && !given['model-name']) throw new UsageError('--layout repository requires --model-name')
  if (given['model-name']?.includes('/'))
    throw new UsageError('--model-name must not contain /: it is the name of a directory')
  return {
    uri: given.uri,
    directory: given.to,
    layout,
    connections: parseInteger('connections', given.connections, 1, 64),
    ...(given['model-name'] !== undefined && { modelName: relativePath(given['model-name']) }),
    ...(given.checksum !== undefined && { checksum: parseExpected(given.checksum) }),
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
