/**
 * What whoever runs the operator may decide in a file: `training:` with any of the settings of `TrainingConfig`, and
 * `serving:` with those of `ServingConfig`. What is not said keeps its default; what is not known is refused, since a typo
 * would otherwise go unnoticed.
 */
import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { UsageError } from './command/flags.ts'
import { defaultServingConfig, type ServingConfig } from './plan/serving/config.ts'
import { defaultTrainingConfig, type TrainingConfig } from './plan/training/config.ts'

export interface OperatorConfig {
  readonly training: TrainingConfig
  readonly serving: ServingConfig
}

type Settings = Readonly<Record<string, unknown>>

/** `installed` is what the installation itself knows; the file may know better. */
export async function loadOperatorConfig(
  file: string | undefined,
  installed: Partial<ServingConfig> = {},
): Promise<OperatorConfig> {
  return operatorConfig(file === undefined ? {} : parsed(await readFile(file, 'utf8'), file), installed)
}

export function operatorConfig(settings: unknown, installed: Partial<ServingConfig> = {}): OperatorConfig {
  const { training, serving } = merged('', { training: {}, serving: {} }, settings)
  return {
    training: merged('training', { ...defaultTrainingConfig }, training) as unknown as TrainingConfig,
    serving: merged('serving', { ...defaultServingConfig, ...installed }, serving) as unknown as ServingConfig,
  }
}

function parsed(text: string, file: string): unknown {
  try {
    return parse(text) ?? {}
  } catch (error) {
    throw new UsageError(`${file} cannot be read as YAML: ${String(error)}`)
  }
}

/** One level deep: a setting is replaced as a whole, maps and lists included. */
function merged(path: string, defaults: Settings, given: unknown): Settings {
  if (kindOf(given) !== 'object') throw new UsageError(`configuration: ${path || 'the file'} must be a map`)
  const settings = given as Settings
  for (const [name, value] of Object.entries(settings)) {
    const at = path === '' ? name : `${path}.${name}`
    if (!(name in defaults)) throw new UsageError(`configuration: there is no ${at}`)
    const wanted = kindOf(defaults[name])
    if (kindOf(value) !== wanted) throw new UsageError(`configuration: ${at} must be of type ${wanted}`)
  }
  return { ...defaults, ...settings }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}
