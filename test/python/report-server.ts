/** An HTTPS server that records progress reports, and Python programs that send them. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { createCa, issue } from '../../src/kube/x509.ts'

export const HELPER = join(import.meta.dirname, '..', '..', 'python')

/** Why this machine cannot run the helper; false when it can. */
export const missingPython: string | false =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status !== 0 && 'needs Python 3.9'

export interface Report {
  readonly path: string | undefined
  readonly authorization: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

export interface ReportServer {
  readonly reports: readonly Report[]
  /** What the operator sets in a pod. */
  readonly env: Readonly<Record<string, string>>
  readonly setToken: (token: string) => void
  /** Closes the port, so that connections are refused. */
  readonly stop: () => Promise<void>
}

/** Answers a request, after its report was recorded. `null`: never answers. */
export type Answer = ((request: IncomingMessage, response: ServerResponse) => void) | null

const notAfter = new Date(Date.now() + 3_600_000)

export async function startReportServer(t: TestContext, answer: Answer = accept): Promise<ReportServer> {
  const directory = mkdtempSync(join(tmpdir(), 'reports-'))
  const ca = createCa({ commonName: 'reports', notAfter })
  const reports: Report[] = []
  const server = createServer(
    issue(ca, { commonName: 'reports', ipAddresses: ['127.0.0.1'], usages: ['server'], notAfter }),
  )
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void record(request, response))
  async function record(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url: path, headers } = request
    const body = JSON.parse(await text(request)) as Report['body']
    reports.push({ path, authorization: headers.authorization, body })
    answer?.(request, response)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((resolve) => void server.close(resolve))
  }
  t.after(async () => {
    await stop()
    rmSync(directory, { recursive: true })
  })
  const files = { ca: join(directory, 'ca.crt'), token: join(directory, 'token') }
  writeFileSync(files.ca, ca.cert)
  const setToken = (token: string): void => writeFileSync(files.token, `${token}\n`)
  setToken('first-token')
  const { port } = server.address() as AddressInfo
  const env = {
    ML_OPERATOR_REPORT_URL: `https://127.0.0.1:${port}/report/ns/job`,
    ML_OPERATOR_REPORT_TOKEN_FILE: files.token,
    ML_OPERATOR_REPORT_CA_FILE: files.ca,
  }
  return { reports, env, setToken, stop }
}

function accept(_request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204).end()
}

export const answerWith =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end()

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

export async function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Finished> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('python3', args, {
    cwd: tmpdir(),
    env: { PATH, HOME, PYTHONPATH: HELPER, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, out, errors }
}

const IMPORTS = 'import ml_operator, os, time\nfrom ml_operator import report\n'

/** Runs a program that reports, and waits at its end as the helper does. */
export const train = (lines: string, env: Readonly<Record<string, string>> = {}): Promise<Finished> =>
  python(['-c', `${IMPORTS}${lines}`], env)

/** The same, but at its end the program waits for the server, however slow this machine is. */
export const trainPatiently = (lines: string, env: Readonly<Record<string, string>>): Promise<Finished> =>
  train(`ml_operator.flush.__defaults__ = (600.0,)\n${lines}`, env)
