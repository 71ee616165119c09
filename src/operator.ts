/**
 * `ml-operator operator`: its flags, and the composition of clients, manager, controllers and webhook. Only commands
 * create Kubernetes clients. It is loaded only for this command, so that agents in tenants' pods do not load it.
 */
import { CONVERSION_SERVICE } from './api/crd.ts'
import { REPORT_PORT } from './api/training-report.ts'
import { type Flags, helpOf, parseFlags, UsageError, type Values, parseInteger, parseNames } from './command/flags.ts'
import { connection, connectionFlags } from './connection.ts'
import { HealthChecks } from './integrations/health-checks.ts'
import { trafficReports } from './integrations/router-reports.ts'
import { type Client, createClient } from './kube/client.ts'
import type { ClientConfig } from './kube/config.ts'
import { addCertificateGauge, addProcessMetrics, METRICS_PREFIX } from './operator-metrics.ts'
import { configFlags, loadOperatorConfig } from './operator-config.ts'
import { DEFAULT_LOGS, Reports } from './operator-reports.ts'
import { GpuUsage } from './reports/gpu-usage.ts'
import type { OtlpTracing } from './operator-tracing.ts'
import { startMetricReader } from './operator-prometheus.ts'
import { startTracking } from './operator-tracking.ts'
import type { ServingConfig } from './plan/serving/index.ts'
import { addScheduleController } from './reconcile/schedule.ts'
import { addServingControllers } from './reconcile/serving.ts'
import { addTrainingController } from './reconcile/training.ts'
import {
  createLogger,
  type Logger,
  type LogLevel,
  Manager,
  metricsAccess,
  Reviews,
  systemClock,
} from './runtime/index.ts'
import { stopSignal } from './command/stop-signal.ts'
import {
  type ConversionWebhook,
  type ServedCertificate,
  startConversionWebhook,
  startMountedWebhook,
  type WebhookServerOptions,
} from './webhooks/conversion-webhook.ts'

const operatorFlags = {
  ...connectionFlags,
  ...configFlags,
  namespace: { value: 'NAMES', env: 'WATCH_NAMESPACE', help: 'watch only these namespaces: a,b; default: all' },
  mlops: { env: 'MLOPS', default: 'true', help: 'reconcile the ModelDeployments of mlops.sathvik.dev too' },
  concurrency: { value: 'N', env: 'CONCURRENCY', default: '16', help: 'objects of a kind reconciled at the same time' },
  port: { value: 'PORT', env: 'PORT', default: '8000', help: 'port of /healthz, /readyz and /metrics' },
  'metrics-auth': {
    env: 'METRICS_AUTH',
    default: 'false',
    help: '/metrics needs a bearer token with the permission get for /metrics',
  },
  'metrics-objects': {
    value: 'N',
    env: 'METRICS_OBJECTS',
    default: '10000',
    help: 'jobs and models, each, that have metrics of their own in /metrics',
  },
  'log-level': { value: 'LEVEL', env: 'LOG_LEVEL', default: 'info', help: 'fatal, error, warn, info, debug, trace' },
  'trace-endpoint': {
    value: 'URL',
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    help: 'send traces of reconciles there, by OTLP over HTTP; default: no traces',
  },
  'trace-percent': { value: 'N', env: 'TRACE_PERCENT', default: '100', help: 'percentage of reconciles to trace' },
  'leader-elect': { env: 'LEADER_ELECT', default: 'true', help: 'elect a leader among the replicas' },
  'lease-namespace': {
    value: 'NAME',
    env: 'POD_NAMESPACE',
    default: 'ml-operator-system',
    help: 'namespace of the operator',
  },
  'lease-name': { value: 'NAME', default: 'ml-operator', help: 'name of the lease' },
  'shutdown-seconds': { value: 'N', default: '20', help: 'time for running reconciles to finish after SIGTERM' },
  webhook: { env: 'WEBHOOK', default: 'true', help: 'serve the webhook that converts between v1 and v1alpha1' },
  'webhook-port': { value: 'PORT', env: 'WEBHOOK_PORT', default: '9443', help: 'port of the webhook' },
  'webhook-url': { value: 'URL', help: 'URL of the webhook, if the API server does not use its Service' },
  'webhook-service': { value: 'NAME', default: CONVERSION_SERVICE.name, help: 'Service of the webhook' },
  'webhook-cert-dir': {
    value: 'DIR',
    env: 'WEBHOOK_CERT_DIR',
    help: 'directory with tls.crt and tls.key that others provide; default: the operator issues certificates',
  },
  'webhook-secret': {
    value: 'NAME',
    default: 'ml-operator-webhook',
    help: 'Secret with the certificates of the webhook',
  },
  reports: {
    env: 'REPORTS',
    default: 'false',
    help: "take progress reports of training pods at the webhook's Service",
  },
  'report-port': { value: 'PORT', env: 'REPORT_PORT', default: String(REPORT_PORT), help: 'port for progress reports' },
  'progress-logs': {
    value: 'N',
    env: 'PROGRESS_LOGS',
    default: String(DEFAULT_LOGS),
    help: 'logs of training pods that are read for progress at the same time; 0: none',
  },
  'pod-ip': { value: 'IP', env: 'POD_IP', help: 'address at which other replicas send reports to the leader' },
} as const satisfies Flags

type OperatorFlags = Values<typeof operatorFlags>

/** One line per flag. */
export const operatorHelp = helpOf(operatorFlags)

const LEVELS: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export async function operator(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const flags = parseFlags(operatorFlags, args, env)
  const parsed = parseValues(flags)
  const log = createLogger({ level: parseLevel(flags['log-level']) })
  const config = await connection(flags, env)
  const reviewer = flags['metrics-auth'] ? createClient(config) : undefined
  const tracing = await startTracing(flags['trace-endpoint'], parsed.tracePercent)
  const manager = createManager({ ...flags, ...parsed }, { config, log, reviewer, tracing })
  addProcessMetrics(manager.metrics.registry)
  const { training, serving, mlflow, prometheus } = await loadOperatorConfig(flags.config, installed(flags))
  const { concurrency, namespaces, maxMetricObjects } = parsed
  const scope = { concurrency, namespace: namespaces, maxMetricObjects }
  const reports = createReports({ ...flags, ...parsed }, manager)
  const tracking = await startTracking(mlflow, manager)
  const metrics = await startMetricReader(prometheus)
  const gpuUsage = new GpuUsage({ port: training.gpuExporterPort, clock: manager.clock, log })
  addTrainingController(manager, { config: training, ...scope, gpuUsage, ...reports?.source, ...tracking?.source })
  addScheduleController(manager, scope)
  const healthChecks = new HealthChecks({ clock: manager.clock })
  const sources = { readReports: trafficReports(), prometheus: metrics.source, healthChecks }
  addServingControllers(manager, { config: serving, ...sources, mlops: flags.mlops, ...scope })
  const onCertificate = (certificate: ServedCertificate): void => reports?.useCertificate(certificate)
  await reports?.listen({ port: parsed.reportPort })
  const webhook = flags.webhook
    ? await startConversion({ ...flags, ...parsed }, config, { manager, onCertificate })
    : undefined
  try {
    await manager.run(stopSignal((signal) => log.info({ signal }, 'stopping')))
  } finally {
    gpuUsage.close()
    healthChecks.close()
    await Promise.all([webhook?.close(), reports?.close(), tracking?.close(), reviewer?.close(), tracing?.close()])
    await metrics.close()
  }
}

/** Defaults of the installation. */
function installed({ 'agent-image': agentImage }: OperatorFlags): Partial<ServingConfig> {
  return agentImage === undefined ? {} : { agentImage }
}

function parseLevel(level: string): LogLevel {
  if (!LEVELS.includes(level)) throw new UsageError(`--log-level must be one of ${LEVELS.join(', ')}`)
  return level as LogLevel
}

/** Validates values before connecting to the API server. */
function parseValues(flags: OperatorFlags) {
  return {
    namespaces: parseNames('namespace', flags.namespace ?? ''),
    concurrency: parseInteger('concurrency', flags.concurrency, 1, 1_024),
    maxMetricObjects: parseInteger('metrics-objects', flags['metrics-objects'], 0, 1_000_000),
    tracePercent: parseInteger('trace-percent', flags['trace-percent'], 0, 100),
    port: parseInteger('port', flags.port, 0, 65_535),
    reportPort: parseInteger('report-port', flags['report-port'], 0, 65_535),
    progressLogs: parseInteger('progress-logs', flags['progress-logs'], 0, 10_000),
    webhookPort: parseInteger('webhook-port', flags['webhook-port'], 0, 65_535),
    shutdownMs: parseInteger('shutdown-seconds', flags['shutdown-seconds'], 0, 3_600) * 1_000,
  }
}

type Settings = Omit<OperatorFlags, 'concurrency' | 'port'> & ReturnType<typeof parseValues>

interface Connections {
  readonly config: ClientConfig
  readonly log: Logger
  /** Reviews tokens; without the leader's gate, because every replica serves /metrics. */
  readonly reviewer: Client | undefined
  readonly tracing: OtlpTracing | undefined
}

/** Loads the tracing libraries only if they are used. */
async function startTracing(endpoint: string | undefined, percent: number): Promise<OtlpTracing | undefined> {
  if (endpoint === undefined || endpoint === '') return undefined
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError('--trace-endpoint must be a URL such as http://collector.monitoring.svc:4318/v1/traces')
  const { otlpTracing } = await import('./operator-tracing.ts')
  return otlpTracing({ endpoint, percent })
}

function createManager(flags: Settings, { config, log, reviewer, tracing }: Connections): Manager {
  const lease = { namespace: flags['lease-namespace'], name: flags['lease-name'] }
  return new Manager({
    name: 'ml-operator',
    metricsPrefix: METRICS_PREFIX,
    connect: (interceptors) => createClient(config, { interceptors }),
    log,
    tracing,
    server: {
      port: flags.port,
      authorizeMetrics: reviewer && metricsAccess(new Reviews(reviewer, systemClock)),
    },
    shutdownMs: flags.shutdownMs,
    ...(flags['leader-elect'] && { leaderElection: { lease, ...leaderAddress(flags) } }),
  })
}

/** Where other replicas forward reports to. */
function leaderAddress({ reports, 'pod-ip': ip, reportPort }: Settings): { readonly address?: string } {
  if (!reports || ip === undefined) return {}
  return { address: `${ip.includes(':') ? `[${ip}]` : ip}:${reportPort}` }
}

function createReports(flags: Settings, manager: Manager): Reports | undefined {
  if (!flags.reports) return undefined
  const serverName = `${flags['webhook-service']}.${flags['lease-namespace']}.svc`
  if (flags.webhook) return new Reports({ manager, serverName, logs: { maxLogs: flags.progressLogs } })
  manager.log.warn('no progress reports: --reports needs the certificate of the webhook, so omit --no-webhook')
  return undefined
}

interface ConversionDeps {
  readonly manager: Manager
  readonly onCertificate: (certificate: ServedCertificate) => void
}

/** Every replica converts, leader or not. */
async function startConversion(
  flags: Settings,
  config: ClientConfig,
  { manager, onCertificate }: ConversionDeps,
): Promise<ConversionWebhook> {
  const server = { clock: systemClock, log: manager.log, port: flags.webhookPort, onCertificate }
  const directory = flags['webhook-cert-dir']
  const webhook =
    directory === undefined
      ? await startIssuing(flags, config, server)
      : await startMountedWebhook({ ...server, directory })
  manager.health.addReadyCheck('webhook', () => webhook.check())
  addCertificateGauge(manager.metrics, () => webhook.certificateExpiresAt)
  return webhook
}

/** The webhook has a client without the leader's gate. */
async function startIssuing(
  flags: Settings,
  config: ClientConfig,
  server: WebhookServerOptions,
): Promise<ConversionWebhook> {
  const { 'webhook-url': url, 'lease-namespace': namespace, 'webhook-service': name } = flags
  const client = createClient(config)
  const webhook = await startConversionWebhook({
    ...server,
    client,
    endpoint: url === undefined ? { service: { ...CONVERSION_SERVICE, namespace, name } } : { url },
    secret: { namespace, name: flags['webhook-secret'] },
  })
  return {
    port: webhook.port,
    check: () => webhook.check(),
    get certificateExpiresAt() {
      return webhook.certificateExpiresAt
    },
    close: async () => {
      await webhook.close()
      await client.close()
    },
  }
}
