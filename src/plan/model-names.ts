/** What the objects of a model are called and how they are labelled. All of it is a contract with users and tools. */

/** On every object of a model: whose it is. */
export const MODEL_UID_LABEL = 'modeldeployment.ml.example.com/model-uid'
/** On every object of one version, pods included. */
export const VERSION_LABEL = 'modeldeployment.ml.example.com/version'
/** What a pod does: `server`, `router` or `validation`. */
export const ROLE_LABEL = 'modeldeployment.ml.example.com/role'

interface Named {
  readonly metadata: { readonly name: string; readonly uid?: string }
}

export const serviceName = ({ metadata }: Named): string => `${metadata.name}-service`
export const routerName = ({ metadata }: Named): string => `${metadata.name}-router`
/** Of a version: its Deployment, Service, HPA and budget. A model of a single version has the names of `soleName`. */
export const versionedName = ({ metadata }: Named, version: string): string => `${metadata.name}-${version}`
export const soleDeploymentName = ({ metadata }: Named): string => `${metadata.name}-deployment`
export const soleAutoscalerName = ({ metadata }: Named): string => `${metadata.name}-hpa`
/** Files of the server. */
export const configName = ({ metadata }: Named): string => `${metadata.name}-config`
/** The claim that fetched models are kept on. */
export const cacheClaimName = ({ metadata }: Named): string => `${metadata.name}-models`

const MAX_NAME = 63

/** What is validated is part of the name: another model, image or script is another validation. */
export function validationName(model: Named, version: string, digest: string): string {
  const end = `-validate-${digest}`
  return `${versionedName(model, version)
    .slice(0, MAX_NAME - end.length)
    .replace(/-+$/, '')}${end}`
}

/** What the pods of a version are labelled with. */
export const serverLabels = (model: Named, version: string): Record<string, string> => ({
  [MODEL_UID_LABEL]: model.metadata.uid ?? '',
  [VERSION_LABEL]: version,
  [ROLE_LABEL]: 'server',
})

/** Labels that everything belonging to a model carries. */
export const modelLabels = ({ metadata }: Named): Record<string, string> => ({
  app: metadata.name,
  [MODEL_UID_LABEL]: metadata.uid ?? '',
})
