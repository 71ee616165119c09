/**
 * The configuration file of the operator: `training:` with the settings of `TrainingConfig`, `serving:` with those of
 * `ServingConfig`. Omitted settings keep their defaults. Unknown settings are rejected, so that typos are noticed.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { type Flags, UsageError } from './command/flags.ts'
import { defaultServingConfig, type ServingConfig, servingConfigProblem } from './plan/serving/index.ts'
import { defaultTrainingConfig, type TrainingConfig } from './plan/training/index.ts'

export interface OperatorConfig {
  readonly training: TrainingConfig
  readonly serving: ServingConfig
}

/** Flags of every command that reads the configuration. */
export const configFlags = {
  config: { value: 'FILE', env: 'CONFIG_FILE', help: 'configuration file in YAML: see docs/configuration.md' },
  'agent-image': { value: 'IMAGE', env: 'AGENT_IMAGE', help: 'image of this program, for pods that run the agent' },
} as const satisfies Flags

type Settings = Readonly<Record<string, unknown>>

/** `installed` are defaults of the installation; the file takes precedence. */
export async function loadOperatorConfig(
  file: string | undefined,
  installed: Partial<ServingConfig> = {},
): Promise<OperatorConfig> {
  return operatorConfig(file === undefined ? {} : parseYaml(await readFile(file, 'utf8'), file), installed)
}

export function operatorConfig(settings: unknown, installed: Partial<ServingConfig> = {}): OperatorConfig {
  const { training, serving } = mergeSettings('', { training: {}, serving: {} }, settings)
  const config = {
    training: mergeSettings('training', { ...defaultTrainingConfig }, training) as unknown as TrainingConfig,
    serving: mergeSettings('serving', { ...defaultServingConfig, ...installed }, serving) as unknown as ServingConfig,
  }
  checkExposure(config.serving)
  return config
}

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
    if (kindOf(value) !== wanted) throw new UsageError(`configuration: ${at} must be of type ${wanted}`)
  }
  return { ...defaults, ...settings }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}
