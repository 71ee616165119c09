import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Compile } from 'typebox/schema'
import { parse } from 'yaml'
import { configSchema } from '../../scripts/install/config-schema.ts'
import { defaultMlflowConfig } from '../../src/integrations/mlflow/mlflow-client.ts'
import { defaultPrometheusConfig } from '../../src/integrations/prometheus/prometheus-client.ts'
import { operatorConfig } from '../../src/operator-config.ts'
import { defaultServingConfig } from '../../src/plan/serving/index.ts'
import { defaultTrainingConfig } from '../../src/plan/training/index.ts'
import { blocksIn } from '../documents/blocks.ts'

test('the documented configuration equals the defaults', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8')
  const [, file = ''] = /```yaml config\n([^`]*)```/.exec(page) ?? []
  const defaults = {
    training: defaultTrainingConfig,
    serving: defaultServingConfig,
    mlflow: defaultMlflowConfig,
    prometheus: defaultPrometheusConfig,
  }
  assert.deepEqual(parse(file), defaults)
  assert.deepEqual(operatorConfig(parse(file)), defaults)
})

const schema = configSchema()
const accepts = (config: object): boolean => Compile(schema as object).Check(config)

test('the schema of the chart accepts the defaults and every documented setting', () => {
  assert.ok(accepts({ training: defaultTrainingConfig, serving: defaultServingConfig, mlflow: defaultMlflowConfig }))
  for (const { label, text, heading } of blocksIn('docs/configuration.md'))
    if (label === 'config') assert.ok(accepts(parse(text) as object), heading)
})

const wrong: readonly object[] = [
  { training: { checkpointAccessMode: 'ReadWriteOncePod' } },
  { training: { cost: { prices: [{ gpuHour: '2' }] } } },
  { training: { spotLabels: {} } },
  { serving: { allowedGateways: [{ namespaces: ['a'] }] } },
  { serving: { allowedGateways: ['infra/public'] } },
  { serving: { runtimes: { triton: { img: 'a' } } } },
  { serving: { runtimes: { triton: 'image' } } },
  { serving: { istioQueries: { requests: 'up' } } },
  { prometheus: { labels: { cluster: 1 } } },
  { prometheus: { user: 'a' } },
]

for (const config of wrong)
  test(`the schema of the chart rejects ${JSON.stringify(config)}`, () => assert.ok(!accepts(config)))

test('the schema of the chart has the type of every entry of a list or map', () => {
  const untyped = (at: string, { type, ...rest }: Schema): string[] => {
    const inner = { ...rest.properties, ...(rest.items && { '[]': rest.items }) }
    const below = Object.entries(inner).flatMap(([name, one]) => untyped(`${at}.${name}`, one))
    const isOpen = type === 'array' ? !rest.items : type === 'object' && !rest.properties && !rest.additionalProperties
    return isOpen ? [at, ...below] : below
  }
  assert.deepEqual(untyped('config', schema as Schema), [])
})

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: unknown
}
