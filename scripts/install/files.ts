/** The generated files of an installation: CRDs and roles, for kustomize and for the chart. */

import { Document, isMap, isSeq, stringify } from 'yaml'
import { customResourceDefinition } from '../../src/api/crd.ts'
import { crdName } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { admissionPolicy } from './admission-policy.ts'
import { chartReadme } from './chart-readme.ts'
import { chartValues } from './chart-values.ts'
import { networkPolicies, operatorPolicy, proxyPolicy, serverPolicy } from './network-policies.ts'
import { clusterWideRoles, type Grant, markedRulesAt, metricsAuthRoles, namespacedRoles } from './roles.ts'
import { userGrants } from './user-roles.ts'
import { valuesSchema } from './values-schema.ts'

const CRD_NOTE = 'Generated from src/api by scripts/generate.ts. Do not edit.'
const NOTE = 'Generated from scripts/install by scripts/generate.ts. Do not edit.'
const CHART = 'charts/ml-operator'
const STYLE = { lineWidth: 120, aliasDuplicateObjects: false } as const

/** Folders with generated files only. */
export const INSTALL_FOLDERS = [
  'config/admission',
  'config/crd',
  'config/network-policy-models',
  'config/rbac',
  'config/rbac-namespaced',
  `${CHART}/generated/crds`,
] as const

/** Path from the root of the repository → content. */
export function installFiles(): [string, string][] {
  const crds = kinds.map((kind) => ({ name: `${crdName(kind)}.yaml`, object: customResourceDefinition(kind) }))
  return [
    ...crds.flatMap(({ name, object }): [string, string][] => {
      const content = `# ${CRD_NOTE}\n${stringify(object, STYLE)}`
      return [
        [`config/crd/${name}`, content],
        [`${CHART}/generated/crds/${name}`, content],
      ]
    }),
    ['config/crd/Kustomization', kustomization(crds.map(({ name }) => name))],
    ['config/admission/policy.yaml', `# ${NOTE}\n${documents(admissionPolicy())}`],
    ['config/admission/Kustomization', kustomization(['policy.yaml'])],
    ['config/rbac/roles.yaml', `# ${NOTE}\n${clusterWideRoles().map(explained).join('---\n')}`],
    ['config/rbac/Kustomization', kustomization(['roles.yaml'])],
    ['config/rbac-namespaced/roles.yaml', `# ${NOTE}\n${namespacedRoles().map(explained).join('---\n')}`],
    ['config/rbac-namespaced/Kustomization', kustomization(['roles.yaml'])],
    ['config/metrics-auth/roles.yaml', `# ${NOTE}\n${metricsAuthRoles().map(explained).join('---\n')}`],
    ['config/network-policy/policy.yaml', `# ${NOTE}\n${documents(networkPolicies().operator)}`],
    ['config/network-policy-models/policies.yaml', `# ${NOTE}\n${documents(networkPolicies().models)}`],
    ['config/network-policy-models/Kustomization', kustomization(['policies.yaml'])],
    [`${CHART}/generated/network-policies.yaml`, `# ${NOTE}\n${stringify(networkPolicySpecs(), STYLE)}`],
    [`${CHART}/generated/rules.yaml`, `# ${NOTE}\n${stringify(ruleSets(), STYLE)}`],
    [`${CHART}/generated/admission-policy.yaml`, `# ${NOTE}\n${stringify(policyParts(), STYLE)}`],
    ...chartFiles(),
  ]
}

const documents = (objects: readonly KubeObject[]): string =>
  objects.map((object) => stringify(object, STYLE)).join('---\n')

/** The specs, which the chart names, labels and places. */
function networkPolicySpecs(): object {
  return { operator: operatorPolicy(), models: { proxies: proxyPolicy(), servers: serverPolicy() } }
}

/** The specs of the policy and of its binding, which the chart names and labels. */
function policyParts(): object {
  const [policy, binding] = admissionPolicy() as readonly (KubeObject & { readonly spec: object })[]
  return { policy: policy?.spec, binding: binding?.spec }
}

/** Documents of the chart that follow from its values.yaml and from the configuration of the operator. */
function chartFiles(): [string, string][] {
  const values = chartValues()
  return [
    [`${CHART}/values.schema.json`, `${JSON.stringify(valuesSchema(values), null, 2)}\n`],
    [`${CHART}/README.md`, chartReadme(values)],
  ]
}

function ruleSets(): object {
  const [cluster, watched, own] = [markedRulesAt('cluster'), markedRulesAt('watched'), markedRulesAt('own')]
  return { cluster, watched, own, users: userGrants }
}

function kustomization(resources: readonly string[]): string {
  const object = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources }
  return `# ${NOTE}\n${stringify(object, STYLE)}`
}

/** Adds the reason of each rule as a comment. */
function explained({ object, rights }: Grant): string {
  const document = new Document(object, { aliasDuplicateObjects: false })
  const rules = document.get('rules')
  if (isSeq(rules)) {
    for (const [index, rule] of rules.items.entries())
      if (isMap(rule)) rule.commentBefore = ` ${rights[index]?.why ?? ''}`
  }
  return document.toString(STYLE)
}
