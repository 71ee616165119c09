/** MLflow's model registry. A run has at most one version of a model, so a repeated registration finds the first one. */
import type { ModelRegistration, RegisteredModel } from '../../api/training-tracking.ts'
import { type Call, type Json, RejectedError } from './mlflow-client.ts'

const MAX_TAG = 4_000

export async function registerModel(call: Call, runId: string, model: ModelRegistration): Promise<RegisteredModel> {
  const { name, source } = model
  const found = await findVersion(call, name, runId)
  if (found !== undefined) return { name, version: found }
  await createModel(call, name)
  const tags = Object.entries(model.tags).map(([key, value]) => ({ key, value: value.slice(0, MAX_TAG) }))
  const created = await call('POST', 'model-versions/create', { name, source, run_id: runId, tags })
  return { name, version: versionIn(created['model_version']) }
}

async function findVersion(call: Call, name: string, runId: string): Promise<string | undefined> {
  const filter = `name = '${name}' and run_id = '${runId}'`
  const { model_versions: versions } = await call('GET', 'model-versions/search', { filter, max_results: '1' })
  const [first] = Array.isArray(versions) ? (versions as Json[]) : []
  return first && versionIn(first)
}

async function createModel(call: Call, name: string): Promise<void> {
  try {
    await call('POST', 'registered-models/create', { name })
  } catch (error) {
    if (!(error instanceof RejectedError) || error.code !== 'RESOURCE_ALREADY_EXISTS') throw error
  }
}

function versionIn(value: unknown): string {
  const version: unknown = (value as Json | undefined)?.['version']
  const text = typeof version === 'number' ? String(version) : version
  if (typeof text !== 'string' || !/^[0-9]{1,20}$/.test(text))
    throw new Error('MLflow answered without a model version')
  return text
}
