/** The NetworkPolicies select the pods that they are for, and allow the ports that these pods have. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import {
  type NetworkPolicySpec,
  operatorPolicy,
  proxyPolicy,
  serverPolicy,
} from '../../scripts/install/network-policies.ts'
import type { Deployment } from '../../src/kube/resources.ts'
import { planServing } from '../../src/plan/serving/index.ts'
import { ServingCluster, version } from '../sim/serving-cluster.ts'
import { calm } from '../sim/serving-history.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The operator as kustomize installs it. */
function operatorDeployment(): Deployment {
  const text = readFileSync(join(ROOT, 'config', 'manager', 'manager.yaml'), 'utf8')
  const found = parseAllDocuments(text).map((document) => document.toJS() as Deployment)
  const deployment = found.find(({ kind }) => kind === 'Deployment')
  assert.ok(deployment)
  return deployment
}

/** The Deployments of a model with two versions behind a router. */
function modelDeployments(): Deployment[] {
  const spec = { versions: [version('v1', 60), version('v2', 40)], traffic: { provider: 'router' } }
  const cluster = new ServingCluster(planServing, () => undefined, { spec, offers: [] })
  assert.ok(calm(cluster, 60))
  return cluster.of<Deployment>('Deployment')
}

const selects = ({ podSelector }: NetworkPolicySpec, { spec }: Deployment): boolean => {
  const { matchLabels = {} } = podSelector as { readonly matchLabels?: Record<string, string> }
  const labels = spec?.template.metadata?.labels ?? {}
  return Object.entries(matchLabels).every(([name, value]) => labels[name] === value)
}

const portsOf = ({ spec }: Deployment): (string | number)[] =>
  (spec?.template.spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.flatMap((port) => [port.name ?? '', port.containerPort]),
  )

const allowedPorts = ({ ingress = [] }: NetworkPolicySpec): (string | number)[] =>
  ingress.flatMap(({ ports = [] }) => ports.map(({ port }) => port))

const operator = operatorDeployment()
const models = modelDeployments()
const policies = { operator: operatorPolicy(), router: proxyPolicy(), server: serverPolicy() }

test('every pod is selected by exactly one policy', () => {
  const names = [operator, ...models].map((deployment) =>
    Object.entries(policies)
      .filter(([, policy]) => selects(policy, deployment))
      .map(([name]) => name)
      .join(),
  )
  assert.deepEqual(names.toSorted(), ['operator', 'router', 'server', 'server'])
})

test('every port that is allowed exists, and every port of the pod is allowed', () => {
  for (const policy of Object.values(policies))
    for (const deployment of [operator, ...models].filter((one) => selects(policy, one))) {
      const [allowed, ports] = [allowedPorts(policy), portsOf(deployment)]
      assert.deepEqual(
        allowed.filter((port) => !ports.includes(port)),
        [],
        deployment.metadata.name,
      )
      const pairs = (deployment.spec?.template.spec?.containers ?? []).flatMap(({ ports: own = [] }) => own)
      for (const { name = '', containerPort } of pairs)
        assert.ok(allowed.includes(name) || allowed.includes(containerPort), `${deployment.metadata.name} ${name}`)
    }
})

test('no policy allows the addresses of the node and of its cloud to programs of users', () => {
  for (const { egress = [] } of [policies.router, policies.server])
    for (const { to } of egress.filter(({ ports }) => ports === undefined))
      for (const peer of to ?? [{}])
        assert.ok('podSelector' in peer || JSON.stringify(peer).includes('except'), JSON.stringify(peer))
})
