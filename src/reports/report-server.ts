/** The HTTPS server for progress reports. Every replica accepts them: the leader itself, others by asking the leader. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { MAX_REPORT_BYTES } from '../api/training-report.ts'
import type { ObjectKey } from '../kube/object.ts'
import { type Answer, type Handler, pathOf } from '../net/http-server.ts'
import { type HttpsServer, startHttpsServer } from '../net/https-server.ts'
import type { Address } from '../net/listening.ts'
import { type Forward, FORWARDED } from './forwarder.ts'
import type { Delivery } from './receiver.ts'
import type { ReportFormat } from './report-body.ts'

export interface ReportHandlerDeps {
  readonly isLeading: () => boolean
  readonly receive: (delivery: Delivery) => Promise<Answer>
  readonly forward: Forward
  readonly counted?: (status: number) => void
}

export function startReportServer(address: Address, deps: ReportHandlerDeps): Promise<HttpsServer> {
  return startHttpsServer(address, reportHandler(deps))
}

export function reportHandler(deps: ReportHandlerDeps): Handler {
  return async (request, response) => {
    const answer = await answerTo(request, response, deps)
    if (answer.status === 429 || answer.status === 503) response.setHeader('retry-after', '5')
    deps.counted?.(answer.status)
    return answer
  }
}

async function answerTo(request: IncomingMessage, response: ServerResponse, deps: ReportHandlerDeps): Promise<Answer> {
  const path = pathOf(request)
  const target = targetOf(path)
  if (!target) return text(404, 'not found: use ML_OPERATOR_REPORT_URL of the pod')
  if (request.method !== 'POST') return text(405, 'method not allowed: POST the report')
  const body = await readBody(request)
  if (body === undefined) {
    response.setHeader('connection', 'close') // the rest of the body is not read
    return text(413, `the report is larger than ${MAX_REPORT_BYTES} bytes: send fewer metrics`)
  }
  const [, token] = /^bearer ([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '') ?? []
  if (token === undefined) return text(401, 'the header Authorization must be: Bearer and the token of the pod')
  if (deps.isLeading()) return deps.receive({ ...target, token, body })
  if (request.headers[FORWARDED] !== undefined) return text(503, 'this replica does not lead: try again')
  return deps.forward({ path, token, body })
}

const text = (status: number, reason: string): Answer => ({ status, body: `${reason}\n` })

interface Target {
  readonly key: Required<ObjectKey>
  readonly format: ReportFormat
}

const NAME = '([a-z0-9][a-z0-9.-]{0,252})'
const OWN = new RegExp(`^/v1/namespaces/${NAME}/trainingjobs/${NAME}/progress$`)
const KUBEFLOW = new RegExp(`^/apis/trainer\\.kubeflow\\.org/v1alpha1/namespaces/${NAME}/trainjobs/${NAME}/status$`)

function targetOf(path: string): Target | undefined {
  for (const [format, pattern] of [['own', OWN] as const, ['kubeflow', KUBEFLOW] as const]) {
    const [, namespace, name] = pattern.exec(path) ?? []
    if (namespace !== undefined && name !== undefined) return { key: { namespace, name }, format }
  }
  return undefined
}

/** Undefined if it is too large. Connections and time are limited by the server. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_REPORT_BYTES) return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_REPORT_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
