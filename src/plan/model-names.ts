/** Names and labels of the objects of a model. All of them are a contract with users and tools. */
import { recommendedLabels } from './labels.ts'

/** On every object of a model: the model's uid. */
export const MODEL_UID_LABEL = 'modeldeployment.ml.example.com/model-uid'
/** On every object of one version, pods included. */
export const VERSION_LABEL = 'modeldeployment.ml.example.com/version'
/** What a pod does: `server`, `validation` and `analysis` here; providers add the roles of their own pods. */
export const ROLE_LABEL = 'modeldeployment.ml.example.com/role'

export interface Named {
  readonly metadata: { readonly name: string; readonly uid?: string }
}

export const serviceName = ({ metadata }: Named): string => `${metadata.name}-service`
/** Of the Service of a version that gets no traffic before a switch. */
export const previewName = ({ metadata }: Named): string => `${metadata.name}-preview`
/** Of a version's Deployment, Service, HPA and PodDisruptionBudget. */
export const versionedName = ({ metadata }: Named, version: string): string => `${metadata.name}-${version}`
/** Of a version that was the only one when it was created. */
export const soleDeploymentName = ({ metadata }: Named): string => `${metadata.name}-deployment`
export const soleAutoscalerName = ({ metadata }: Named): string => `${metadata.name}-hpa`
/** ConfigMap with the server's files, named by their content: pods keep the files they were started with. */
export const filesName = ({ metadata }: Named, digest: string): string => `${metadata.name}-files-${digest}`
/** The claim that caches fetched models. */
export const cacheClaimName = ({ metadata }: Named): string => `${metadata.name}-models`

/** Name of the request port in every pod that a Service of a model selects. Services look up each pod's port number by it. */
export const HTTP_PORT_NAME = 'http'

const MAX_NAME = 63

/** The digest names what is validated: another model, image or script is another validation. */
export const validationName = (model: Named, version: string, digest: string): string =>
  ending(versionedName(model, version), `-validate-${digest}`)

interface Run {
  readonly revision: number
  readonly step: number
  /** Of the model, the version and the metric: long names are cut. */
  readonly digest: string
}

/** One Job for each metric, version, revision and step. */
export const analysisName = (model: Named, version: string, { revision, step, digest }: Run): string =>
  ending(versionedName(model, version), `-r${revision}-s${step}-${digest}`)

const ending = (name: string, end: string): string => `${name.slice(0, MAX_NAME - end.length).replace(/-+$/, '')}${end}`

/** Labels of the pods of a version. Selectors use them. */
export const serverLabels = (model: Named, version: string): Record<string, string> => ({
  [MODEL_UID_LABEL]: model.metadata.uid ?? '',
  [VERSION_LABEL]: version,
  [ROLE_LABEL]: 'server',
})

/** What an object of a model is for. */
export type ModelComponent = 'server' | 'validation' | 'analysis' | 'traffic' | 'config' | 'storage'

/** Labels of every object of a model, pods included. */
export const modelLabels = (
  { metadata }: Named,
  component: ModelComponent,
  version?: string,
): Record<string, string> => ({
  app: metadata.name,
  'managed-by': 'model-operator',
  [MODEL_UID_LABEL]: metadata.uid ?? '',
  ...recommendedLabels({ name: metadata.name, instance: metadata.name, component, version }),
})
