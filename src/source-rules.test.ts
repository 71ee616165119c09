/** Rules about the whole source that comments and documents rely on: who writes, who reads the time, who judges errors. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const src = dirname(fileURLToPath(import.meta.url))

/** Path below src → code without comments. Tests and test clocks are not part of the program. */
const sources: ReadonlyMap<string, string> = new Map(
  globSync('**/*.ts', { cwd: src })
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('fake-clock.ts'))
    .map((file) => [relative('.', file), withoutComments(readFileSync(`${src}/${file}`, 'utf8'))]),
)

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(?<=^|\s)\/\/ .*$/gm, '')
}

function filesWith(pattern: RegExp, { below = '' } = {}): string[] {
  return [...sources].flatMap(([file, code]) => (file.startsWith(below) && pattern.test(code) ? [file] : [])).toSorted()
}

test('the patterns match real code', () => {
  assert.ok(sources.size > 200)
  assert.equal(withoutComments('a // b\n/* c */ "https://d"'), 'a \n "https://d"')
})

test('only commit writes children and statuses; the other writers are known', () => {
  const writers = {
    'runtime/applier.ts': 'commit',
    'runtime/child-writes.ts': 'commit',
    'runtime/commit.ts': 'commit',
    'runtime/deletions.ts': 'commit',
    'runtime/write-log.ts': 'wraps the client of a reconcile',
    'runtime/finalizer.ts': 'the last write for an object: after it the object is gone',
    'reconcile/training.ts': 'the first write for a job: the finalizer and the accepted version',
    'runtime/leader.ts': 'the Lease',
    'runtime/events.ts': 'Events',
    'runtime/reviews.ts': 'TokenReviews and SubjectAccessReviews, which the API server does not store',
    'restore.ts': 'no part of the operator: creates the objects of a backup, with their status',
    'check.ts': 'no part of the operator: creates the objects of `ml-operator check`, and deletes them',
    'webhooks/certificate-secret.ts': 'the Secret of the webhook',
    'webhooks/conversion-trust.ts': 'the CRD: address and authorities of the webhook',
  }
  const call = /\b(?:client|#client)\.(?:create|update|patch|apply|delete|evict)\(/
  const request = /\bclient\.request\(\{ method: '(?!GET)/
  const found = new Set([...filesWith(call), ...filesWith(request)])
  assert.deepEqual([...found].toSorted(), Object.keys(writers).toSorted())
})

// Agents run in the pods of users, with their permissions.
test('only these files outside of agents open connections, and none to an address that a user sets', () => {
  const connecting = {
    'kube/transport.ts': 'the API server of the configuration',
    'integrations/health-request.ts':
      "pods of models at the pod's own address, by the port and path of its readiness probe",
    'integrations/router-reports.ts': 'router pods, by an address that a pod can have, at a fixed port and path',
    'integrations/mlflow/mlflow-client.ts': 'the MLflow server of the configuration',
    'integrations/prometheus/prometheus-client.ts': 'the Prometheus server of the configuration',
    'net/page.ts': "pages of training pods at the pod's own address, and of the GPU exporter on nodes",
    'reports/forwarder.ts': "the leader, by the address in the operator's own Lease",
    'check.ts': 'no part of the operator: the model that `ml-operator check` created',
  }
  const opens = /import \{[^}]*\b(?:request|Pool|connect|get)\b[^}]*\} from '(?:undici|node:(?:net|tls|https?|http2))'/
  const found = new Set([...filesWith(opens), ...filesWith(/(?<![.\w])fetch\((?!\))[^)]*\bsignal\b/)])
  const ours = [...found].filter((file) => !file.startsWith('agent/'))
  assert.deepEqual(ours.toSorted(), Object.keys(connecting).toSorted())
})

test('only the commands create Kubernetes clients, and only the operator a manager', () => {
  assert.deepEqual(filesWith(/(?<!function )\bcreateClient\(/), ['backup.ts', 'check.ts', 'operator.ts', 'restore.ts'])
  assert.deepEqual(filesWith(/\bnew Manager\(/), ['operator.ts'])
})

test('only main reads the command line; the environment is read there and by default in the configuration', () => {
  assert.deepEqual(filesWith(/\bprocess\.argv\b/), ['main.ts'])
  const defaults = ['kube/config.ts', 'kube/in-cluster.ts', 'kube/kubeconfig.ts']
  assert.deepEqual(filesWith(/\bprocess\.env\b/), [...defaults, 'main.ts'])
  for (const file of defaults) assert.doesNotMatch(sources.get(file) ?? '', /(?<!env = )process\.env/)
})

test('in the runtime, only the clock reads the time and sets timers', () => {
  const time =
    /\bDate\.now\b|new Date\(\)|\bperformance\.|(?<![.\w])set(?:Timeout|Interval)\(|AbortSignal\.timeout|kube\/sleep/
  assert.deepEqual(filesWith(time, { below: 'runtime/' }), ['runtime/clock.ts'])
})

test('plans read no time at all', () => {
  assert.deepEqual(filesWith(/\bDate\.now\b|new Date\(\)|\bperformance\./, { below: 'plan/' }), [])
  assert.deepEqual(filesWith(/\bDate\.now\b|new Date\(\)|\bperformance\./, { below: 'reconcile/' }), [])
})

test('classify alone classifies errors: for retries, for reports, and as the cause of a restarted watch', () => {
  const users = ['reconcile/error-boundary.ts', 'runtime/caches.ts', 'runtime/controller.ts']
  assert.deepEqual(filesWith(/(?<!function )\bclassify\(/), users)
  assert.deepEqual(filesWith(/\bneedsAction\b/), ['reconcile/error-boundary.ts', 'runtime/errors.ts'])
})

test('only the controller counts and retries failed reconciles', () => {
  assert.deepEqual(filesWith(/\bmetrics\.failed\(/), ['runtime/controller.ts'])
  assert.deepEqual(filesWith(/\bqueue\.(?:retry|retryAfter|hold)\(/), ['runtime/controller.ts'])
})

test('one file matches the messages of quotas', () => {
  assert.deepEqual(filesWith(/\.includes\('exceeded quota'\)/), ['kube/errors.ts'])
})
