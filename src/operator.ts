/**
 * `ml-operator operator`: its flags, and the clients, clocks and servers that it is built of. Loaded only when it is the
 * command: what runs beside a tenant's model need not carry it.
 */
import { CONVERSION_SERVICE } from './api/crd.ts'
import { type Flags, helpOf, parseFlags, UsageError, type Values, wholeNumber } from './command/flags.ts'
import { routerReports } from './integrations/router-reports.ts'
import { createClient } from './kube/client.ts'
import { type ClientConfig, loadConfig } from './kube/config.ts'
import { loadOperatorConfig } from './operator-config.ts'
import { addServingControllers } from './reconcile/serving.ts'
import { addTrainingController } from './reconcile/training.ts'
import { createLogger, type Logger, type LogLevel, Manager, systemClock } from './runtime/index.ts'
import { stopSignal } from './command/stop-signal.ts'
import { type ConversionWebhook, startConversionWebhook } from './webhooks/conversion-webhook.ts'

const operatorFlags = {
  kubeconfig: { value: 'FILE', help: 'how to reach the cluster; else $KUBECONFIG, the pod, ~/.kube/config' },
  context: { value: 'NAME', help: 'a context of the kubeconfig other than its current one' },
  config: { value: 'FILE', env: 'CONFIG_FILE', help: 'settings of the operator, in YAML: see docs/configuration.md' },
  'agent-image': { value: 'IMAGE', env: 'AGENT_IMAGE', help: 'image of this very program, for the pods that need it' },
  namespace: { value: 'NAME', env: 'WATCH_NAMESPACE', help: 'serve this namespace only; all if absent' },
  concurrency: { value: 'N', env: 'CONCURRENCY', default: '16', help: 'objects of a kind served at once' },
  port: { value: 'PORT', env: 'PORT', default: '8000', help: 'for /healthz, /readyz and /metrics' },
  'log-level': { value: 'LEVEL', env: 'LOG_LEVEL', default: 'info', help: 'fatal, error, warn, info, debug, trace' },
  'leader-elect': { env: 'LEADER_ELECT', default: 'true', help: 'of several replicas, let one act' },
  'lease-namespace': { value: 'NAME', env: 'POD_NAMESPACE', default: 'ml-operator-system', help: 'where it runs' },
  'lease-name': { value: 'NAME', default: 'ml-operator', help: 'of the lease by which replicas elect one' },
  'shutdown-seconds': { value: 'N', default: '20', help: 'time for running work to finish after SIGTERM' },
  webhook: { env: 'WEBHOOK', default: 'true', help: 'convert between v1 and v1alpha1' },
  'webhook-port': { value: 'PORT', env: 'WEBHOOK_PORT', default: '9443', help: 'where the webhook listens' },
  'webhook-url': { value: 'URL', help: 'how the API server reaches it, if not by its Service' },
  'webhook-secret': { value: 'NAME', default: 'ml-operator-webhook', help: 'where replicas share its certificates' },
} as const satisfies Flags

type OperatorFlags = Values<typeof operatorFlags>

/** One line per flag. */
export const operatorHelp = helpOf(operatorFlags)

const LEVELS: readonly string[] = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export async function operator(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const flags = parseFlags(operatorFlags, args, env)
  const numbers = numbersIn(flags)
  if (!LEVELS.includes(flags['log-level'])) throw new UsageError(`--log-level is one of ${LEVELS.join(', ')}`)
  const log = createLogger({ level: flags['log-level'] as LogLevel })
  const config = await loadConfig({
    ...(flags.kubeconfig !== undefined && { kubeconfig: flags.kubeconfig }),
    ...(flags.context !== undefined && { context: flags.context }),
  })
  const manager = managerOf({ ...flags, ...numbers }, config, log)
  const agentImage = flags['agent-image']
  const { training, serving } = await loadOperatorConfig(flags.config, agentImage === undefined ? {} : { agentImage })
  const scope = {
    concurrency: numbers.concurrency,
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
  }
  addTrainingController(manager, { config: training, ...scope })
  addServingControllers(manager, { config: serving, readReports: routerReports(), ...scope })
  const webhook = flags.webhook ? await conversion({ ...flags, ...numbers }, config, manager) : undefined
  try {
    await manager.run(stopSignal((signal) => log.info({ signal }, 'stopping')))
  } finally {
    await webhook?.close()
  }
}

/** Judged before anything is built: a mistyped number must not cost a connection. */
function numbersIn(flags: OperatorFlags) {
  return {
    concurrency: wholeNumber('concurrency', flags.concurrency, 1, 1_024),
    port: wholeNumber('port', flags.port, 0, 65_535),
    webhookPort: wholeNumber('webhook-port', flags['webhook-port'], 0, 65_535),
    shutdownMs: wholeNumber('shutdown-seconds', flags['shutdown-seconds'], 0, 3_600) * 1_000,
  }
}

type Settings = Omit<OperatorFlags, 'concurrency' | 'port'> & ReturnType<typeof numbersIn>

function managerOf(flags: Settings, config: ClientConfig, log: Logger): Manager {
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

/** Every replica converts, whether it leads or not; so the webhook has a client without the leader's gate. */
async function conversion(flags: Settings, config: ClientConfig, manager: Manager): Promise<ConversionWebhook> {
  const { 'webhook-url': url, 'lease-namespace': namespace } = flags
  const client = createClient(config)
  const webhook = await startConversionWebhook({
    client,
    clock: systemClock,
    log: manager.log,
    endpoint: url === undefined ? { service: { ...CONVERSION_SERVICE, namespace } } : { url },
    secret: { namespace, name: flags['webhook-secret'] },
    port: flags.webhookPort,
  })
  manager.health.addReadyCheck('webhook', () => webhook.check())
  const help = 'When the certificate of the webhook expires, in seconds since the epoch'
  manager.metrics.gauge({ name: 'webhook_certificate_expiry_seconds', help, labelNames: [] }, () =>
    webhook.certificateExpiresAt === undefined ? [] : [[{}, webhook.certificateExpiresAt / 1_000]],
  )
  return {
    ...webhook,
    close: async () => {
      await webhook.close()
      await client.close()
    },
  }
}
