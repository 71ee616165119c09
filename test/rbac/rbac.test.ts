/**
 * The operator has exactly the permissions that it was observed to use. Runs after the levels that run the operator. Permissions
 * that tests cannot observe are listed here, each with its reason.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Right, rights } from '../../scripts/install/rights.ts'
import { recordedCalls } from '../client/recorded-calls.ts'

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

function granted({ group, resources, verbs }: Right): string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))
}

const all = [...new Set(rights.flatMap(granted))].toSorted()

test('grants every observed call', (t) => {
  if (directory === undefined) return t.skip('the test runner has not recorded calls')
  const seen = recordedCalls(directory)
  t.diagnostic(`${seen.length} kinds of calls were observed`)
  assert.deepEqual(
    seen.filter((call) => !all.includes(call)),
    [],
    'grant it in scripts/install/rights.ts, or remove the call',
  )
})

test('grants nothing else, except for the listed exceptions', (t) => {
  const missing = ['controlplane', 'node'].filter((level) => !complete.includes(level))
  if (directory === undefined || missing.length > 0) return t.skip(`needs complete runs of: ${missing.join(', ')}`)
  const seen = recordedCalls(directory)
  const isExcepted = (right: string): boolean => EXCEPTIONS.some(({ matches }) => matches(right, seen))
  const unseen = all.filter((right) => !seen.includes(right) && !isExcepted(right))
  assert.deepEqual(unseen, [], 'remove it from scripts/install/rights.ts, or add an exception here')
})

test('restricts Secrets, Leases and CRDs by name', () => {
  const unnamed = rights.filter(({ names }) => names === undefined).flatMap(granted)
  for (const resource of ['/secrets', 'coordination.k8s.io/leases', 'apiextensions.k8s.io/customresourcedefinitions']) {
    const verbs = unnamed.filter((right) => right.endsWith(` ${resource}`)).map((right) => right.split(' ')[0])
    assert.ok(
      verbs.every((verb) => verb === 'create'),
      `${resource}: ${verbs.join(', ')}`,
    )
  }
})
