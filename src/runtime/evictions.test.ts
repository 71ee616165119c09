/** Evictions of a plan: only after the status is stored, only pods of the owner, and a budget that forbids one is no error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toDelete } from '../decision/plan.ts'
import type { Client } from '../kube/client.ts'
import { ApiError } from '../kube/errors.ts'
import type { KubeObject, ObjectKey, Resource } from '../kube/object.ts'
import { Pod } from '../kube/resources.ts'
import { Caches } from './caches.ts'
import { systemClock } from './clock.ts'
import { committer } from './commit.ts'
import { createLogger } from './log.ts'
import { RuntimeMetrics } from './metrics.ts'

interface Owner extends KubeObject {
  readonly status?: { readonly phase?: string }
}

const owners: Resource<Owner> = { group: 'x.dev', version: 'v1', kind: 'Owner', plural: 'owners', namespaced: true }
const metadata = { name: 'o', namespace: 'team-a', uid: 'uid-o', resourceVersion: '7' }
const owner: Owner = { apiVersion: 'x.dev/v1', kind: 'Owner', metadata, status: { phase: 'Evicting' } }

const pod = (name: string, more: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'team-a',
    uid: `uid-${name}`,
    ownerReferences: [{ apiVersion: 'x.dev/v1', kind: 'Owner', name: 'o', uid: 'uid-o', controller: true }],
    ...more,
  },
})

interface Given {
  readonly phase?: string
  readonly live?: Owner
  /** How the API server rejects an eviction. */
  readonly error?: ApiError
}

/** Commits a plan that evicts these pods. Returns the calls. */
async function evicted(pods: readonly Pod[], { phase = 'Evicting', live = owner, error }: Given = {}) {
  const calls: string[] = []
  const client = {
    get: () => Promise.resolve(live),
    patch: (_: Resource, { name }: ObjectKey) => (calls.push(`status ${name}`), Promise.resolve(owner)),
    evict: ({ name }: ObjectKey, { uid }: { readonly uid?: string }) => {
      calls.push(`evict ${name} ${uid}`)
      return error === undefined ? Promise.resolve() : Promise.reject(error)
    },
  } as unknown as Client
  const log = createLogger({ level: 'silent' })
  const metrics = new RuntimeMetrics(systemClock)
  const caches = new Caches({ client, log, metrics })
  caches.of(owners)
  caches.of(Pod)
  const commit = committer({ caches, recorder: { record: () => undefined }, clock: systemClock, metrics })
  const plan = { writes: [], deletions: toDelete('evict', pods), status: { phase }, events: [] }
  await commit(owner, plan, { client, signal: AbortSignal.timeout(60_000) })
  return calls
}

const rejection = (code: number, reason: string, cause: string): ApiError =>
  new ApiError({ code, reason, details: { causes: [{ reason: cause }] } }, { verb: 'create', path: '/' })

test('a pod is evicted with its uid, and not in the pass that changes the status', async () => {
  assert.deepEqual(await evicted([pod('a')]), ['evict a uid-a'])
  assert.deepEqual(await evicted([pod('a')], { phase: 'Running' }), ['status o'])
})

test('neither a pod of another owner or namespace nor a terminating one is evicted', async () => {
  const foreign = [
    pod('a', { ownerReferences: [] }),
    pod('b', { namespace: 'team-b' }),
    pod('c', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  ]
  assert.deepEqual(await evicted(foreign), [])
})

test('nothing is evicted if the owner has changed since it was observed', async () => {
  const live = { ...owner, metadata: { ...metadata, resourceVersion: '8' } }
  await assert.rejects(evicted([pod('a')], { live }), /planning again/)
})

test('a PodDisruptionBudget that does not allow it is no error; any other rejection is', async () => {
  const budget = rejection(429, 'TooManyRequests', 'DisruptionBudget')
  assert.deepEqual(await evicted([pod('a')], { error: budget }), ['evict a uid-a'])
  await assert.rejects(evicted([pod('a')], { error: rejection(403, 'Forbidden', '') }), /403/)
})
