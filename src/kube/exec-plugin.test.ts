import assert from 'node:assert/strict'
import test from 'node:test'
import { execCredential } from './exec-plugin.ts'
import type { ExecContext, ExecPlugin } from './exec-plugin.ts'

const apiVersion = 'client.authentication.k8s.io/v1'
const context: ExecContext = { where: ['here'], env: { INHERITED: 'yes' }, cluster: { server: 'https://s' } }

/** A plugin that runs the given JavaScript. */
function plugin(code: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
  return { apiVersion, command: process.execPath, args: ['-e', code], ...more }
}

function prints(status: string, version = apiVersion): string {
  return `console.log(JSON.stringify({apiVersion:'${version}',kind:'ExecCredential',status:${status}}))`
}

test('accepts a token, a certificate with its key, or both', async () => {
  assert.deepEqual(await execCredential(plugin(prints(`{token:'t'}`)), context)(), { token: 't' })
  const pair = prints(`{clientCertificateData:'c',clientKeyData:'k'}`)
  assert.deepEqual(await execCredential(plugin(pair), context)(), { cert: 'c', key: 'k' })
  const beta = 'client.authentication.k8s.io/v1beta1'
  assert.deepEqual(await execCredential(plugin(prints(`{token:'t'}`, beta), { apiVersion: beta }), context)(), {
    token: 't',
  })
})

test('the plugin gets its environment, and the cluster with provideClusterInfo', async () => {
  const code = prints(`{token: [process.env.INHERITED, process.env.OWN, process.env.KUBERNETES_EXEC_INFO].join(' ')}`)
  const env = [{ name: 'OWN', value: 'mine' }]
  const { token } = await execCredential(plugin(code, { env, provideClusterInfo: true }), context)()
  const info = { apiVersion, kind: 'ExecCredential', spec: { cluster: { server: 'https://s' }, interactive: false } }
  assert.equal(token, `yes mine ${JSON.stringify(info)}`)
})

test('the credential is kept until shortly before it expires, or is rejected', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const code = prints(`{token: String(process.hrtime.bigint()), expirationTimestamp: '2026-01-01T01:00:00Z'}`)
  const source = execCredential(plugin(code), { ...context, now: () => now })
  const first = await source()
  now += 3_589_000
  assert.equal(await source(), first)
  now += 1_000
  const second = await source()
  assert.notEqual(second.token, first.token)
})

test('a credential without expiry is kept until it is rejected', async () => {
  const source = execCredential(plugin(prints(`{token: String(process.hrtime.bigint())}`)), context)
  const first = await source()
  assert.equal(await source(), first)
  assert.notEqual((await source(first)).token, first.token)
})

test('reports the output of a failed plugin and the install hint of a missing one', async () => {
  const failing = execCredential(plugin(`console.error('not logged in'); process.exit(3)`), context)
  await assert.rejects(failing(), /^ConfigError: here: .*node.*: plugin failed: not logged in/)
  const missing = execCredential({ apiVersion, command: '/nowhere/aws', installHint: 'Install the tool.' }, context)
  await assert.rejects(missing(), /here: \/nowhere\/aws: plugin not found. Install the tool./)
})

test('rejects invalid output', async () => {
  const table: [code: string, problem: RegExp][] = [
    [`console.log('hello')`, /did not print JSON/],
    [`console.log('null')`, /did not print an ExecCredential/],
    [
      prints(`{token:'t'}`, 'client.authentication.k8s.io/v1beta1'),
      /did not print an ExecCredential of client.authentication.k8s.io\/v1$/,
    ],
    [prints('{}'), /neither a token nor a certificate/],
    [prints(`{clientCertificateData:'c'}`), /neither a token nor a certificate/],
    [prints(`{token:'t',expirationTimestamp:'soon'}`), /expirationTimestamp/],
  ]
  for (const [code, problem] of table) await assert.rejects(execCredential(plugin(code), context)(), problem)
})

test('rejects an invalid configuration before the plugin runs', () => {
  assert.throws(
    () => execCredential(plugin('', { apiVersion: 'x/v1alpha1' }), context),
    /here: apiVersion: x\/v1alpha1 is not one of/,
  )
  assert.throws(() => execCredential(plugin('', { interactiveMode: 'Always' }), context), /interactiveMode/)
  assert.throws(() => execCredential(plugin('', { command: '' }), context), /here: command: is missing/)
})
