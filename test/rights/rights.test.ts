/**
 * The operator is granted what the tests saw it do, and nothing else. Runs after the rungs that run the operator; what
 * is granted without having been seen is listed here, each with its reason.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Right, rights } from '../../scripts/install/rights.ts'
import { recordedCalls } from '../recorded-calls.ts'

const directory = process.env['TEST_CALLS']
const complete = (process.env['TEST_COMPLETE'] ?? '').split(' ')

interface Exception {
  readonly isMeant: (right: string, seen: readonly string[]) => boolean
  readonly reason: string
}

/** What may be granted though no test sees it used. */
const EXCEPTIONS: readonly Exception[] = [
  {
    isMeant: (right) => /^update .*\/finalizers$/.test(right),
    reason: 'asked for by the admission plugin OwnerReferencesPermissionEnforcement, which most clusters do not run',
  },
  {
    isMeant: (right, seen) => right.startsWith('list ') && seen.includes(right.replace('list ', 'watch ')),
    reason: 'what is watched is listed where the API server cannot stream its first state, as ours can',
  },
  {
    isMeant: (right) => right === 'update /secrets',
    reason: 'certificates are renewed after months; tests of that give the webhook a client of their own',
  },
]

function granted({ group, resources, verbs }: Right): string[] {
  return resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))
}

const all = [...new Set(rights.flatMap(granted))].toSorted()

test('everything that the tests saw the operator do is granted', (t) => {
  if (directory === undefined) return t.skip('no runner has recorded calls')
  const seen = recordedCalls(directory)
  t.diagnostic(`${seen.length} kinds of calls were seen`)
  assert.deepEqual(
    seen.filter((call) => !all.includes(call)),
    [],
    'grant it in scripts/install/rights.ts, or do not do it',
  )
})

test('nothing is granted that the tests did not see it do, but for what is listed with a reason', (t) => {
  const missing = ['controlplane', 'node'].filter((rung) => !complete.includes(rung))
  if (directory === undefined || missing.length > 0)
    return t.skip(`only a whole run can tell; not run as a whole: ${missing.join(', ')}`)
  const seen = recordedCalls(directory)
  const isExcepted = (right: string): boolean => EXCEPTIONS.some(({ isMeant }) => isMeant(right, seen))
  const unseen = all.filter((right) => !seen.includes(right) && !isExcepted(right))
  assert.deepEqual(unseen, [], 'take it out of scripts/install/rights.ts, or name the exception here with its reason')
})

test('rights by name stay by name: no other Secret, Lease or definition can be read or changed', () => {
  const unnamed = rights.filter(({ names }) => names === undefined).flatMap(granted)
  for (const resource of ['/secrets', 'coordination.k8s.io/leases', 'apiextensions.k8s.io/customresourcedefinitions']) {
    const verbs = unnamed.filter((right) => right.endsWith(` ${resource}`)).map((right) => right.split(' ')[0])
    assert.ok(
      verbs.every((verb) => verb === 'create'),
      `${resource}: ${verbs.join(', ')}`,
    )
  }
})
