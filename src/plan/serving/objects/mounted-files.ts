/** ConfigMaps that server pods may still mount. They are not deleted. */
import type { Deployment } from '../../../kube/resources.ts'
import { FILES_VOLUME } from './pod-template.ts'
import type { ModelView } from '../observe/view.ts'
import { isRolling } from '../observe/version.ts'

type Template = NonNullable<Deployment['spec']>['template']

export function mountedFiles({ observed, versions, model, providers }: ModelView): readonly string[] {
  const { deployments, jobs, configMaps } = observed
  const proxies = providers.proxyNames(model)
  // While old pods are replaced, another one may still start from the previous template.
  if (versions.some(isRolling))
    return configMaps.map(({ metadata }) => metadata.name).filter((name) => !proxies.includes(name))
  return [...deployments, ...jobs].flatMap(({ spec }) => (spec ? filesIn(spec.template) : []))
}

function filesIn({ spec }: Template): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, configMap }) => (name === FILES_VOLUME ? (configMap?.name ?? []) : []))
}
