/** `ml-operator agent fetch`: its flags, and what it leaves behind when it fails. */
import { writeFile } from 'node:fs/promises'

import { fetchFailureText } from '../../api/fetch-failure.ts'
import { type Flags, UsageError, type Values, wholeNumber } from '../../command/flags.ts'
import type { AgentCall, AgentCommand } from '../commands.ts'
import { parseExpected } from './checksum.ts'
import { failureOf } from './error.ts'
import { fetchModel, type FetchRequest } from './fetch.ts'
import { layouts, type LayoutName } from './layout.ts'
import { relativePath } from './relative-path.ts'
import { sourceOf } from './sources/source-of.ts'

const flags = {
  uri: { value: 'URI', help: 's3://bucket/key, gs://bucket/key, http(s)://…, hf://owner/model[:revision]' },
  to: { value: 'DIR', help: 'where the model goes' },
  checksum: { value: 'sha256:HEX', help: 'of the file; of a directory, that of its sha256sum listing' },
  layout: {
    value: 'LAYOUT',
    default: 'file',
    help: 'file: as it is; repository: DIR/NAME/VERSION/…, as Triton wants it',
  },
  'model-name': { value: 'NAME', help: 'of the model in a repository' },
  connections: { value: 'N', default: '8', help: 'downloads at once' },
  'termination-log': { value: 'FILE', default: '/dev/termination-log', help: 'where a failure is told' },
} as const satisfies Flags

/** As a shell says of a process that SIGTERM ended. */
const ENDED = 143

export const fetchCommand: AgentCommand = { flags, run }

async function run(call: AgentCall): Promise<number> {
  const given = call.flags as Values<typeof flags>
  try {
    const request = requestOf(given)
    await fetchModel(request, { source: await sourceOf(request.uri, call.env), log: say, signal: call.signal })
    return 0
  } catch (error) {
    // Whoever asked the pod to end does not ask why.
    if (call.signal.aborted) return ENDED
    const failure = failureOf(error, given.to ?? '')
    process.stderr.write(`${failure.reason}: ${failure.message}\n`)
    await writeFile(given['termination-log'], fetchFailureText(failure)).catch((cause: unknown) =>
      process.stderr.write(`the termination log cannot be written: ${String(cause)}\n`),
    )
    return error instanceof UsageError ? 2 : 1
  }
}

function requestOf(given: Values<typeof flags>): FetchRequest {
  if (given.uri === undefined) throw new UsageError('--uri is needed: where the model is')
  if (given.to === undefined) throw new UsageError('--to is needed: the directory to put it into')
  const layout = given.layout as LayoutName
  if (!layouts.includes(layout)) throw new UsageError(`--layout is one of ${layouts.join(', ')}`)
  if (layout === 'repository' && !given['model-name']) throw new UsageError('--layout repository needs --model-name')
  if (given['model-name']?.includes('/')) throw new UsageError('--model-name names a directory: it has no / in it')
  return {
    uri: given.uri,
    directory: given.to,
    layout,
    connections: wholeNumber('connections', given.connections, 1, 64),
    ...(given['model-name'] !== undefined && { modelName: relativePath(given['model-name']) }),
    ...(given.checksum !== undefined && { checksum: parseExpected(given.checksum) }),
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
