/** A server that loads directories cannot load a single file. It would fail only after the file was fetched. */
import { isSingleFile } from '../objects/model-source.ts'
import type { ServingObserved } from '../observe/observed.ts'
import type { ServedModel } from '../observe/served-model.ts'
import type { ServingPlan } from '../serving-plan.ts'
import { runtimeNameOf } from '../runtimes/runtime.ts'
import { reportStuck } from './runtime.ts'

/** As long as there is such a version, nothing is decided: the children stay unchanged, and the status reports it. */
export function checkPaths(observed: ServingObserved, model: ServedModel): ServingPlan | undefined {
  if (model.server.model.layout !== 'directory') return undefined
  const wrong = model.versions.find(({ uri }) => isSingleFile(uri))
  if (!wrong) return undefined
  const runtime = runtimeNameOf(observed.model) ?? ''
  const message =
    `spec.versions[].modelPath of ${wrong.name} is a single file, but the runtime ${runtime} loads a directory: ` +
    'write the path of the directory, such as s3://bucket/model or hf://owner/model'
  return reportStuck(observed, { reason: 'ModelPathInvalid', message })
}
