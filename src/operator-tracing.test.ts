/** Traces at a receiver of OTLP on loopback, and an operator without traces. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { key, settle, setUp } from '../test/fixtures/controller.ts'
import type { Call, Response } from './kube/interceptor.ts'
import { Pod } from './kube/resources.ts'
import { otlpTracing } from './operator-tracing.ts'
import { createLogger, RuntimeError } from './runtime/index.ts'

interface Span {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly status: { readonly code?: number; readonly message?: string }
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[]
}

/** Collects the spans that are sent to it. */
async function receiver(t: TestContext): Promise<{ readonly endpoint: string; readonly spans: Span[] }> {
  const spans: Span[] = []
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { resourceSpans } = body as Export
      spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, spans }
}

const call: Call = {
  verb: 'patch',
  method: 'PATCH',
  path: '/api/v1/namespaces/a/pods/x-0/status',
  resource: Pod,
  subresource: 'status',
  namespace: 'a',
  name: 'x-0',
  body: 's3cret',
  stream: false,
  attempt: 1,
  timeoutMs: 1_000,
}
const respond = (status: number) => async (): Promise<Response> => ({ status, headers: {}, body: 's3cret' })
const valueOf = (span: Span | undefined, name: string): unknown =>
  Object.values(span?.attributes.find((one) => one.key === name)?.value ?? {})[0]

test('a reconcile and its calls are one trace, whose id is in the lines of the reconcile', async (t) => {
  const { endpoint, spans } = await receiver(t)
  const tracing = otlpTracing({ endpoint, percent: 100 })
  const lines: string[] = []
  const log = createLogger({ destination: { write: (line: string) => void lines.push(line) } })
  const { controller, queue } = setUp(
    async () => {
      await tracing.interceptor(call, respond(409))
      throw new RuntimeError('Permanent', 's3cret')
    },
    { log, tracing },
  )
  await tracing.interceptor(call, respond(200))
  queue.add(key('x'))
  controller.start()
  await settle()
  await controller.stop(0)
  await tracing.close()
  const [child, parent, ...others] = spans
  assert.deepEqual(others, [], 'a call outside of a reconcile is not traced')
  assert.deepEqual([parent?.name, child?.name], ['reconcile ConfigMap', 'patch pods/status'])
  assert.deepEqual([child?.parentSpanId, child?.traceId], [parent?.spanId, parent?.traceId])
  assert.deepEqual([parent?.status.code, parent?.status.message], [2, 'Permanent'])
  assert.equal(valueOf(child, 'http.response.status_code'), 409)
  assert.equal(valueOf(parent, 'k8s.object.name'), 'x')
  const { traceId } = JSON.parse(lines[0] ?? '{}') as { readonly traceId?: string }
  assert.equal(traceId, parent?.traceId)
  assert.doesNotMatch(JSON.stringify(spans), /s3cret/)
})

test('a receiver that does not answer neither fails nor delays the operator', async () => {
  const tracing = otlpTracing({ endpoint: 'http://127.0.0.1:1/v1/traces', percent: 100 })
  const span = tracing.reconcile({ controller: 'jobs', kind: 'Job', name: 'x', reconcileId: '1' })
  assert.equal(await span.run(async () => 'done'), 'done')
  span.end({ outcome: 'success' })
  await tracing.close()
})

test('without an endpoint, the operator loads none of the tracing libraries', () => {
  const program = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve: (name, context, next) => { const found = next(name, context); loaded.push(found.url); return found } })
    await import(${JSON.stringify(join(import.meta.dirname, 'operator.ts'))})
    console.log(JSON.stringify(loaded))`
  const loaded = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' }),
  ) as string[]
  assert.ok(loaded.some((url) => url.endsWith('src/runtime/controller.ts')))
  // prom-client loads the package @opentelemetry/api, which has interfaces and no implementation.
  const tracing = loaded.filter((url) => /operator-tracing|@opentelemetry\/(?!api\/)/.test(url))
  assert.deepEqual(tracing, [])
})
