/**
 * `ml-operator operator`: its flags, and the composition of clients, manager, controllers and webhook. Only commands
 * create Kubernetes clients. It is loaded only for this command, so that agents in tenants' pods do not load it.
 */
import { CONVERSION_SERVICE } from './api/crd.ts'
import { type Flags, helpOf, parseFlags, UsageError, type Values, parseInteger, parseNames } from './command/flags.ts'
import { trafficReports } from './integrations/router-reports.ts'
import { createClient } from './kube/client.ts'
import { type ClientConfig, loadConfig } from './kube/config.ts'
import { configFlags, loadOperatorConfig } from './operator-config.ts'
import { addServingControllers } from './reconcile/serving.ts'
import { addTrainingController } from './reconcile/training.ts'
import { createLogger, type Logger, type LogLevel, Manager, systemClock } from './runtime/index.ts'
import { stopSignal } from './command/stop-signal.ts'
import {
  type ConversionWebhook,
  startConversionWebhook,
  startMountedWebhook,
  type WebhookServerOptions,
} from './webhooks/conversion-webhook.ts'

const operatorFlags = {
  kubeconfig: { value: 'FILE', help: 'kubeconfig; default: $KUBECONFIG, the service account, ~/.kube/config' },
  context: { value: 'NAME', help: 'context of the kubeconfig; default: its current one' },
  ...configFlags,
  namespace: { value: 'NAMES', env: 'WATCH_NAMESPACE', help: 'watch only these namespaces: a,b; default: all' },
  mlops: { env: 'MLOPS', default: 'true', help: 'reconcile the ModelDeployments of mlops.sathvik.dev too' },
  concurrency: { value: 'N', env: 'CONCURRENCY', default: '16', help: 'objects of a kind reconciled at the same time' },
  port: { value: 'PORT', env: 'PORT', default: '8000', help: 'port of /healthz, /readyz and /metrics' },
  'log-level': { value: 'LEVEL', env: 'LOG_LEVEL', default: 'info', help: 'fatal, error, warn, info, debug, trace' },
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
} as const satisfies Flags

type OperatorFlags = Values<typeof operatorFlags>

/** One line per flag. */
export const operatorHelp = helpOf(operatorFlags)

const LEVELS: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export async function operator(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const flags = parseFlags(operatorFlags, args, env)
  const parsed = parseValues(flags)
  if (!LEVELS.includes(flags['log-level'])) throw new UsageError(`--log-level must be one of ${LEVELS.join(', ')}`)
  const log = createLogger({ level: flags['log-level'] as LogLevel })
  const config = await loadConfig({
    ...(flags.kubeconfig !== undefined && { kubeconfig: flags.kubeconfig }),
    ...(flags.context !== undefined && { context: flags.context }),
    env,
  })
  const manager = createManager({ ...flags, ...parsed }, config, log)
  const agentImage = flags['agent-image']
  const { training, serving } = await loadOperatorConfig(flags.config, agentImage === undefined ? {} : { agentImage })
  const scope = { concurrency: parsed.concurrency, namespace: parsed.namespaces }
  addTrainingController(manager, { config: training, ...scope })
  addServingControllers(manager, { config: serving, readReports: trafficReports(), mlops: flags.mlops, ...scope })
  const webhook = flags.webhook ? await startConversion({ ...flags, ...parsed }, config, manager) : undefined
  try {
    await manager.run(stopSignal((signal) => log.info({ signal }, 'stopping')))
  } finally {
    await webhook?.close()
  }
}

/** Validates values before connecting to the API server. */
function parseValues(flags: OperatorFlags) {
  return {
    namespaces: parseNames('namespace', flags.namespace ?? ''),
    concurrency: parseInteger('concurrency', flags.concurrency, 1, 1_024),
    port: parseInteger('port', flags.port, 0, 65_535),
    webhookPort: parseInteger('webhook-port', flags['webhook-port'], 0, 65_535),
    shutdownMs: parseInteger('shutdown-seconds', flags['shutdown-seconds'], 0, 3_600) * 1_000,
  }
}

type Settings = Omit<OperatorFlags, 'concurrency' | 'port'> & ReturnType<typeof parseValues>

function createManager(flags: Settings, config: ClientConfig, log: Logger): Manager {
  const lease = { namespace: flags['lease-namespace'], name: flags['lease-name'] }
  return new Manager({
    name: 'ml-operator',
    connect: (interceptors) => createClient(config, { interceptors }),
    log,
    server: { port: flags.port },
    shutdownMs: flags.shutdownMs,
    ...(flags['leader-elect'] && { leaderElection: { lease } }),
  })
}

/** Every replica converts, leader or not. */
async function startConversion(flags: Settings, config: ClientConfig, manager: Manager): Promise<ConversionWebhook> {
  const server = { clock: systemClock, log: manager.log, port: flags.webhookPort }
  const directory = flags['webhook-cert-dir']
  const webhook =
    directory === undefined
      ? await startIssuing(flags, config, server)
      : await startMountedWebhook({ ...server, directory })
  manager.health.addReadyCheck('webhook', () => webhook.check())
  const help = 'Expiry of the certificate of the webhook, in seconds since the epoch'
  manager.metrics.gauge({ name: 'webhook_certificate_expiry_seconds', help, labelNames: [] }, () =>
    webhook.certificateExpiresAt === undefined ? [] : [[{}, webhook.certificateExpiresAt / 1_000]],
  )
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
