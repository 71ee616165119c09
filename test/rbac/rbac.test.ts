/**
 * The operator has exactly the permissions that it was observed to use, if it is installed for all namespaces and if it is
 * installed for one. Runs after the levels that run the operator. Permissions
 * that tests cannot observe are listed here, each with its reason.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Right, rights } from '../../scripts/install/rights.ts'
import { clusterWideRoles, type Grant, metricsAuthRoles, namespacedRoles } from '../../scripts/install/roles.ts'
import { type RecordedCall, recordedCalls, type Scope } from '../client/recorded-calls.ts'

const directory = process.env['TEST_CALLS']
const complete = (process.env['TEST_COMPLETE'] ?? '').split(' ')

interface Exception {
  readonly matches: (right: string, seen: readonly string[]) => boolean
  readonly reason: string
}

/** Permissions that may be granted although no test observes their use. */
const EXCEPTIONS: readonly Exception[] = [
  {
    matches: (right) => /^update .*\/finalizers$/.test(right),
    reason: 'required by the admission plugin OwnerReferencesPermissionEnforcement, which most clusters do not run',
  },
  {
    matches: (right, seen) => right.startsWith('list ') && seen.includes(right.replace('list ', 'watch ')),
    reason: 'watched kinds are listed where the API server does not support streaming lists; ours does',
  },
  {
    matches: (right) => right === 'update /secrets',
    reason: 'certificates are renewed after months; tests of that use a client of their own',
  },
]

/** The roles of an installation. Those for the readers of metrics are an addition to both. */
const INSTALLATIONS: Readonly<Record<string, readonly Grant[]>> = {
  'all namespaces': [...clusterWideRoles(), ...metricsAuthRoles()],
  'one namespace': [...namespacedRoles(), ...metricsAuthRoles()],
}

function names({ group, resources, verbs }: Right): string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))
}

const sorted = (values: readonly string[]): string[] => [...new Set(values)].toSorted()

/** What the roles of this kind grant. */
function grantedBy(grants: readonly Grant[], kind: 'Role' | 'ClusterRole'): string[] {
  return sorted(grants.filter(({ object }) => object.kind === kind).flatMap((grant) => grant.rights.flatMap(names)))
}

const clusterKinds = new Set(rights.filter(({ place }) => place === 'cluster').flatMap(names))

/** As an operator for one namespace sends it: operators for all namespaces read kinds with namespaces across all of them. */
const inNamespace = (call: RecordedCall): RecordedCall =>
  clusterKinds.has(call.right) ? call : { ...call, scope: 'namespace' }

for (const [name, grants] of Object.entries(INSTALLATIONS)) {
  const everywhere = grantedBy(grants, 'ClusterRole')
  const inNamespaces = grantedBy(grants, 'Role')
  const isForAll = name === 'all namespaces'

  test(`an installation for ${name} grants every observed call`, (t) => {
    if (directory === undefined) return t.skip('the test runner has not recorded calls')
    const calls = recordedCalls(directory).map((call) => (isForAll ? call : inNamespace(call)))
    t.diagnostic(`${calls.length} kinds of calls were observed`)
    const isGranted = ({ right, scope }: RecordedCall): boolean =>
      everywhere.includes(right) || (scope === 'namespace' && inNamespaces.includes(right))
    const refused = calls.filter((call) => !isGranted(call))
    assert.deepEqual(refused, [], 'grant it in scripts/install/rights.ts, or remove the call')
  })

  test(`an installation for ${name} grants nothing else, except for the listed exceptions`, (t) => {
    const missing = ['controlplane', 'node'].filter((level) => !complete.includes(level))
    if (directory === undefined || missing.length > 0) return t.skip(`needs complete runs of: ${missing.join(', ')}`)
    const calls = recordedCalls(directory)
    const seenIn = (scope: Scope): string[] => calls.filter((call) => call.scope === scope).map(({ right }) => right)
    const unseen = (granted: readonly string[], seen: readonly string[]): string[] =>
      granted.filter((right) => !seen.includes(right) && !EXCEPTIONS.some(({ matches }) => matches(right, seen)))
    const clusterWide = isForAll ? calls.map(({ right }) => right) : seenIn('cluster')
    const unused = [...unseen(everywhere, clusterWide), ...unseen(inNamespaces, seenIn('namespace'))]
    assert.deepEqual(unused, [], 'remove it from scripts/install/rights.ts, or add an exception here')
  })
}

test('an installation for one namespace has cluster-wide permissions only for kinds without namespaces', () => {
  const everywhere = grantedBy(namespacedRoles(), 'ClusterRole')
  assert.deepEqual(
    everywhere.filter((right) => !clusterKinds.has(right)),
    [],
  )
})

test('restricts Secrets, Leases and CRDs by name', () => {
  const unnamed = rights.filter((right) => right.names === undefined).flatMap(names)
  for (const resource of ['/secrets', 'coordination.k8s.io/leases', 'apiextensions.k8s.io/customresourcedefinitions']) {
    const verbs = unnamed.filter((right) => right.endsWith(` ${resource}`)).map((right) => right.split(' ')[0])
    assert.ok(
      verbs.every((verb) => verb === 'create'),
      `${resource}: ${verbs.join(', ')}`,
    )
  }
})
