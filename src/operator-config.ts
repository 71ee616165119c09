/**
 * The configuration file of the operator: `training:` with the settings of `TrainingConfig`, `serving:` with those of
 * `ServingConfig`, `mlflow:` with those of `MlflowConfig`, `prometheus:` with those of
 * `PrometheusConfig`. Omitted settings keep their defaults. Unknown settings are rejected, so that typos are noticed.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { type Flags, UsageError } from './command/flags.ts'
import { defaultMlflowConfig, type MlflowConfig } from './integrations/mlflow/mlflow-client.ts'
import { defaultPrometheusConfig, type PrometheusConfig } from './integrations/prometheus/prometheus-client.ts'
import { podConfigProblem } from './plan/pod/config.ts'
import { defaultServingConfig, type ServingConfig, servingConfigProblem } from './plan/serving/index.ts'
import { defaultTrainingConfig, type TrainingConfig, trainingConfigProblem } from './plan/training/index.ts'

export interface OperatorConfig {
  readonly training: TrainingConfig
  readonly serving: ServingConfig
  readonly mlflow: MlflowConfig
  readonly prometheus: PrometheusConfig
}

/** Flags of every command that reads the configuration. */
export const configFlags = {
  config: { value: 'FILE', env: 'CONFIG_FILE', help: 'configuration file in YAML: see docs/configuration.md' },
  'agent-image': { value: 'IMAGE', env: 'AGENT_IMAGE', help: 'image of this program, for pods that run the agent' },
} as const satisfies Flags

type Settings = Readonly<Record<string, unknown>>

/** Defaults of the installation that both sections have. */
type Installed = Partial<Pick<ServingConfig & TrainingConfig, 'agentImage'>>

/** `installed` are defaults of the installation; the file takes precedence. */
export async function loadOperatorConfig(file: string | undefined, installed: Installed = {}): Promise<OperatorConfig> {
  return operatorConfig(file === undefined ? {} : parseYaml(await readFile(file, 'utf8'), file), installed)
}

export function operatorConfig(settings: unknown, installed: Installed = {}): OperatorConfig {
  const empty = { training: {}, serving: {}, mlflow: {}, prometheus: {} }
  const { training, serving, mlflow, prometheus } = mergeSettings('', empty, settings)
  const config = {
    training: mergeSettings(
      'training',
      { ...defaultTrainingConfig, ...installed },
      training,
    ) as unknown as TrainingConfig,
    serving: mergeSettings('serving', { ...defaultServingConfig, ...installed }, serving) as unknown as ServingConfig,
    mlflow: mergeSettings('mlflow', { ...defaultMlflowConfig }, mlflow) as unknown as MlflowConfig,
    prometheus: mergeSettings('prometheus', { ...defaultPrometheusConfig }, prometheus) as unknown as PrometheusConfig,
  }
  checkMlflow(config.mlflow)
  checkPrometheus(config.prometheus)
  checkUsers(config)
  checkTraining(config.training)
  checkExposure(config.serving)
  return config
}

/** Credentials in the URL would appear in the status of jobs. */
function checkMlflow({ url }: MlflowConfig): void {
  if (url === '') return
  const { protocol, username, password, search, hash } = URL.parse(url) ?? { protocol: '' }
  if (!['http:', 'https:'].includes(protocol) || username || password || search || hash)
    throw new UsageError(
      'configuration: mlflow.url must be an http or https URL without credentials and query: write for example https://mlflow.example.com, and set mlflow.credentialsDirectory',
    )
}

const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/

function checkPrometheus({
  url,
  labels,
  namespaceLabel,
  rateSeconds,
  refreshSeconds,
  timeoutMs,
}: PrometheusConfig): void {
  const problem = (text: string): never => {
    throw new UsageError(`configuration: prometheus.${text}`)
  }
  const { protocol, username, password, search, hash } = URL.parse(url) ?? { protocol: '' }
  if (url !== '' && (!['http:', 'https:'].includes(protocol) || username || password || search || hash))
    problem(
      'url must be an http or https URL without credentials and query: write for example http://prometheus.monitoring.svc:9090, and set prometheus.tokenFile',
    )
  if (
    Object.entries(labels).some(
      ([label, value]) => !LABEL.test(label) || typeof value !== 'string' || /\p{Cc}/u.test(value),
    )
  )
    problem('labels must be a map of labels to texts, such as { cluster: production }')
  if (!LABEL.test(namespaceLabel)) problem('namespaceLabel must be the name of a label, such as namespace')
  if (![rateSeconds, refreshSeconds, timeoutMs].every((value) => Number.isInteger(value) && value > 0))
    problem('rateSeconds, refreshSeconds and timeoutMs must be whole numbers greater than 0')
}

function checkUsers(config: OperatorConfig): void {
  for (const section of ['training', 'serving'] as const) {
    const problem = podConfigProblem(config[section])
    if (problem !== undefined) throw new UsageError(`configuration: ${section}.${problem}`)
  }
}

function checkTraining(training: TrainingConfig): void {
  const problem = trainingConfigProblem(training)
  if (problem !== undefined) throw new UsageError(`configuration: training.${problem}`)
}

/** Settings of more than one type, which have a check of their own. */
const OTHER_TYPES: readonly string[] = ['user']

/** Validated strictly: a wrong rule would let a namespace use the host names or Gateways of another. */
function checkExposure(serving: ServingConfig): void {
  const problem = servingConfigProblem(serving)
  if (problem !== undefined) throw new UsageError(`configuration: serving.${problem}`)
  const isNames = (value: unknown): boolean => Array.isArray(value) && value.every((one) => typeof one === 'string')
  const rules = { hostnames: serving.allowedHostnames, gateways: serving.allowedGateways }
  for (const [names, list] of Object.entries(rules)) {
    for (const [index, rule] of list.entries()) {
      const at = `serving.allowed${names === 'hostnames' ? 'Hostnames' : 'Gateways'}[${index}]`
      const { namespaces, [names]: allowed } = mergeSettings(at, { namespaces: [], [names]: [] }, rule)
      if (!isNames(namespaces) || !isNames(allowed))
        throw new UsageError(`configuration: ${at} must have namespaces and ${names}, each a list of strings`)
    }
  }
}

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text) ?? {}
  } catch (error) {
    throw new UsageError(`${file} is not valid YAML: ${String(error)}`)
  }
}

/** Merges one level deep: a setting is replaced as a whole, also maps and lists. */
function mergeSettings(path: string, defaults: Settings, given: unknown): Settings {
  if (kindOf(given) !== 'object') throw new UsageError(`configuration: ${path || 'the file'} must be a map`)
  const settings = given as Settings
  for (const [name, value] of Object.entries(settings)) {
    const at = path === '' ? name : `${path}.${name}`
    if (!(name in defaults)) throw new UsageError(`configuration: unknown setting ${at}`)
    const wanted = kindOf(defaults[name])
    if (kindOf(value) !== wanted && !OTHER_TYPES.includes(name))
      throw new UsageError(`configuration: ${at} must be of type ${wanted}`)
  }
  return { ...defaults, ...settings }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}
