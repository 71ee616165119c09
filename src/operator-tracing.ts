/**
 * Traces by OpenTelemetry, sent with OTLP over HTTP. Loaded only if an endpoint is set, so that an operator without traces has
 * none of these libraries in memory.
 *
 * A span has names, verbs and codes. It has no messages, because those can quote the programs of users, and no bodies.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Call, Interceptor } from './kube/interceptor.ts'
import type { ReconcileSpan, TracedReconcile, Tracing } from './runtime/index.ts'

export interface TracingOptions {
  /** URL that accepts OTLP over HTTP, such as http://collector:4318/v1/traces. */
  readonly endpoint: string
  /** Percentage of the reconciles to trace. */
  readonly percent: number
}

export interface OtlpTracing extends Tracing {
  /** Sends what is left, within a few seconds. */
  close(): Promise<void>
}

const CLOSE_MS = 3_000

export function otlpTracing({ endpoint, percent }: TracingOptions): OtlpTracing {
  const exporter = new OTLPTraceExporter({ url: endpoint, timeoutMillis: CLOSE_MS })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'ml-operator' }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(percent / 100) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: CLOSE_MS })],
  })
  const tracer = provider.getTracer('ml-operator')
  const current = new AsyncLocalStorage<Context>()
  const start = (name: string, attributes: Attributes, parent: Context): Span =>
    tracer.startSpan(name, { attributes }, parent)
  const reconcile = (fields: TracedReconcile): ReconcileSpan => {
    const span = start(`reconcile ${fields.kind}`, attributesOf(fields), ROOT_CONTEXT)
    return {
      traceId: span.spanContext().traceId,
      run: (work) => current.run(trace.setSpan(ROOT_CONTEXT, span), work),
      end: ({ outcome, code }) => {
        span.setAttribute('reconcile.outcome', outcome)
        if (code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: code })
        span.end()
      },
    }
  }
  // Calls outside of a reconcile, such as watches and the renewal of the lease, are not traced: they never end, or repeat.
  const interceptor: Interceptor = async (call, next) => {
    const parent = current.getStore()
    return parent ? traced(start(nameOf(call), callAttributes(call), parent), () => next(call)) : next(call)
  }
  return { reconcile, interceptor, close: () => provider.shutdown().catch(() => undefined) }
}

async function traced<T extends { readonly status: number }>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const response = await work()
    span.setAttribute('http.response.status_code', response.status)
    if (response.status >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
    return response
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'Error' })
    throw error
  } finally {
    span.end()
  }
}

function attributesOf({ controller, kind, namespace, name, reconcileId }: TracedReconcile): Attributes {
  return {
    'reconcile.controller': controller,
    'reconcile.id': reconcileId,
    'k8s.object.kind': kind,
    'k8s.object.name': name,
    ...(namespace !== undefined && { 'k8s.namespace.name': namespace }),
  }
}

const nameOf = ({ verb, resource, subresource }: Call): string =>
  [verb, [resource?.plural ?? 'path', subresource].filter(Boolean).join('/')].join(' ')

function callAttributes({ method, resource, namespace, name, attempt }: Call): Attributes {
  return {
    'http.request.method': method,
    'http.request.resend_count': attempt - 1,
    ...(resource && { 'k8s.object.kind': resource.kind }),
    ...(name !== undefined && { 'k8s.object.name': name }),
    ...(namespace !== undefined && { 'k8s.namespace.name': namespace }),
  }
}
