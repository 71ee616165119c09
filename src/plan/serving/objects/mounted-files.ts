/** ConfigMaps that pods may still mount. They are not deleted. */
import type { Deployment } from '../../../kube/resources.ts'
import type { ModelView } from '../observe/view.ts'
import { isRolling } from '../observe/version.ts'

type Template = NonNullable<Deployment['spec']>['template']

export function mountedFiles({ observed, versions, model, providers }: ModelView): readonly string[] {
  const { deployments, jobs, configMaps, traffic } = observed
  const proxies = providers.proxyNames(model)
  const isOfProxy = (name: string): boolean => proxies.some((proxy) => name === proxy || name.startsWith(`${proxy}-`))
  const names = configMaps.map(({ metadata }) => metadata.name)
  // While old pods are replaced, another one may still start from the previous template.
  const ofRolling = [
    ...(versions.some(isRolling) ? names.filter((name) => !isOfProxy(name)) : []),
    ...(traffic.proxies.some(isRolling) ? names.filter(isOfProxy) : []),
  ]
  return [...ofRolling, ...[...deployments, ...jobs].flatMap(({ spec }) => (spec ? filesIn(spec.template) : []))]
}

function filesIn({ spec }: Template): string[] {
  return (spec?.volumes ?? []).flatMap(({ configMap }) => configMap?.name ?? [])
}
