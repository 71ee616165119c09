/** `ml-operator agent tiny-serve`: serves the model of `tiny-train`: `GET /predict?x=3` and `GET /health`. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type Flags, parseInteger } from '../../command/flags.ts'
import { type Answer, answerRequests, closeServer, HTTP_LIMITS, pathOf } from '../../net/http-server.ts'
import { listen } from '../../net/listening.ts'
import type { AgentCommand } from '../commands.ts'
import { type Line, parseLine, predict } from './model.ts'

const flags = {
  model: { value: 'FILE', env: 'MODEL_PATH', default: '/mnt/models/model.json', help: 'file of the model' },
  port: { value: 'PORT', env: 'PORT', default: '8080', help: 'port to listen on' },
} as const satisfies Flags

export const tinyServeCommand: AgentCommand = {
  flags,
  run: async ({ flags: { model, port }, signal }) => {
    const line = parseLine(await readFile(String(model), 'utf8'))
    const server = createServer(HTTP_LIMITS)
    answerRequests(server, (request) => answer(pathOf(request), request.url ?? '', line))
    const used = await listen(server, { port: parseInteger('port', String(port), 0, 65_535) })
    process.stdout.write(`${JSON.stringify({ event: 'serving', port: used, ...line })}\n`)
    if (!signal.aborted) await once(signal, 'abort')
    await closeServer(server)
    return 0
  },
}

function answer(path: string, url: string, line: Line): Answer {
  if (path === '/health') return { status: 200, body: 'ok\n' }
  if (path !== '/predict') return { status: 404, body: 'not found: use /predict?x=3\n' }
  const x = Number(new URLSearchParams(url.split('?')[1]).get('x') ?? Number.NaN)
  if (!Number.isFinite(x)) return { status: 400, body: 'x must be a number: use /predict?x=3\n' }
  return { status: 200, type: 'application/json', body: JSON.stringify({ prediction: predict(line, x) }) }
}
