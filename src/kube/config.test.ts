import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import { configFromKubeconfig, inClusterConfig, loadConfig } from './config.ts'

const PEM = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n'
const base64 = Buffer.from(PEM).toString('base64')

async function directory(t: TestContext, files: Record<string, unknown>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'))
  t.after(() => rm(path, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), typeof content === 'string' ? content : stringify(content))
  }
  return path
}

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
}

function kubeconfig(name: string, { cluster = {}, user = {}, context = {} }: Parts = {}): object {
  return {
    'current-context': name,
    contexts: [{ name, context: { cluster: `${name}-cluster`, user: `${name}-user`, ...context } }],
    clusters: [{ name: `${name}-cluster`, cluster: { server: `https://${name}:6443`, ...cluster } }],
    users: [{ name: `${name}-user`, user }],
  }
}

async function loaded(t: TestContext, parts: Parts, files: Record<string, unknown> = {}, env: NodeJS.ProcessEnv = {}) {
  const path = await directory(t, { config: kubeconfig('a', parts), ...files })
  return configFromKubeconfig(join(path, 'config'), { env })
}

describe('a kubeconfig', () => {
  test('has server, namespace, CA and certificates as data', async (t) => {
    const config = await loaded(t, {
      cluster: { 'certificate-authority-data': base64, 'tls-server-name': 'kubernetes' },
      user: { 'client-certificate-data': base64, 'client-key-data': base64 },
      context: { namespace: 'team' },
    })
    const { credentials, ...rest } = config
    assert.deepEqual(rest, { server: 'https://a:6443', namespace: 'team', ca: PEM, tlsServerName: 'kubernetes' })
    assert.deepEqual(await credentials(), { cert: PEM, key: PEM })
  })

  test('may name files relative to itself', async (t) => {
    const config = await loaded(
      t,
      {
        cluster: { 'certificate-authority': 'pki/ca' },
        user: { 'client-certificate': 'pki/cert', 'client-key': './pki/key', tokenFile: 'token', token: 'older' },
      },
      { 'pki/ca': 'CA', 'pki/cert': 'CERT', 'pki/key': 'KEY', token: 'from-file\n' },
    )
    assert.equal(config.ca, 'CA')
    assert.deepEqual(await config.credentials(), { cert: 'CERT', key: 'KEY', token: 'from-file' })
  })

  test('may have a token or no user', async (t) => {
    assert.deepEqual(await (await loaded(t, { user: { token: 'x' } })).credentials(), { token: 'x' })
    assert.deepEqual(await (await loaded(t, { context: { user: '' } })).credentials(), {})
    assert.equal((await loaded(t, {})).namespace, 'default')
  })

  test('may have an exec plugin relative to itself', async (t) => {
    const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'x' } }
    const path = await directory(t, {
      config: kubeconfig('a', {
        user: { exec: { apiVersion: answer.apiVersion, command: './bin/login', args: null } },
      }),
      'bin/login': `#!/bin/sh\necho '${JSON.stringify(answer)}'\n`,
    })
    await chmod(join(path, 'bin/login'), 0o755)
    const config = await configFromKubeconfig(join(path, 'config'))
    assert.deepEqual(await config.credentials(), { token: 'x' })
  })

  test('may disable TLS verification and name a proxy; otherwise the environment names one', async (t) => {
    const own = await loaded(
      t,
      { cluster: { 'insecure-skip-tls-verify': true, 'proxy-url': 'http://p:1' } },
      {},
      { HTTPS_PROXY: 'http://q:2' },
    )
    assert.equal(own.insecureSkipTlsVerify, true)
    assert.equal(own.proxyUrl, 'http://p:1')
    assert.equal((await loaded(t, {}, {}, { HTTPS_PROXY: 'http://q:2' })).proxyUrl, 'http://q:2')
    assert.equal((await loaded(t, {}, {}, { HTTPS_PROXY: 'http://q:2', NO_PROXY: 'a' })).proxyUrl, undefined)
  })

  test('may be JSON', async (t) => {
    const path = await directory(t, { config: JSON.stringify(kubeconfig('a')) })
    assert.equal((await configFromKubeconfig(join(path, 'config'))).server, 'https://a:6443')
  })

  test('says where it is wrong: file, context, field', async (t) => {
    const table: [parts: Parts, problem: RegExp][] = [
      [{ cluster: { server: '' } }, /config: context a: cluster: server: is not set/],
      [{ cluster: { server: 'ftp://x' } }, /cluster: server: "ftp:\/\/x" is not an http\(s\) URL/],
      [
        { cluster: { 'certificate-authority-data': 'AAAA' } },
        /cluster: certificate-authority-data: is not a base64-encoded PEM/,
      ],
      [{ cluster: { 'certificate-authority': 'none' } }, /cluster: certificate-authority: cannot read .*\/none/],
      [{ context: { cluster: 'b' } }, /context a: cluster: "b" is not defined in clusters/],
      [{ context: { user: 'b' } }, /context a: user: "b" is not defined in users/],
      [{ user: { 'client-certificate-data': base64 } }, /user: client-key: is not set/],
      [{ user: { as: 'root' } }, /user: as: is not supported/],
      [{ user: { 'auth-provider': { name: 'gcp' } } }, /user: auth-provider: is not supported/],
      [{ user: { exec: { apiVersion: 'x', command: 'y' } } }, /user: exec: apiVersion: x is not one of/],
    ]
    for (const [parts, problem] of table) await assert.rejects(loaded(t, parts), problem)
  })

  test('rejects files that are not kubeconfigs', async (t) => {
    const path = await directory(t, {
      list: '- a',
      broken: 'a: [',
      deep: '['.repeat(5_000),
      number: { users: [{ name: 'u', user: { token: 5 } }] },
      names: { contexts: [{}] },
      shape: { users: 5 },
    })
    await assert.rejects(configFromKubeconfig(join(path, 'none')), /none: no such file/)
    await assert.rejects(configFromKubeconfig(join(path, 'list')), /is not a mapping/)
    await assert.rejects(configFromKubeconfig(join(path, 'broken')), /is not YAML/)
    await assert.rejects(configFromKubeconfig(join(path, 'deep')), /is nested too deeply/)
    await assert.rejects(configFromKubeconfig(join(path, 'number')), /user u: token: is not a string: put it in quotes/)
    await assert.rejects(configFromKubeconfig(join(path, 'names')), /contexts: an entry has no name/)
    await assert.rejects(configFromKubeconfig(join(path, 'shape')), /users: is not a list/)
  })
})

describe('contexts', () => {
  test('are chosen by name; the error for an unknown one lists the known ones', async (t) => {
    const path = join(await directory(t, { config: { ...kubeconfig('a'), 'current-context': '' } }), 'config')
    assert.equal((await configFromKubeconfig(path, { context: 'a' })).server, 'https://a:6443')
    await assert.rejects(
      configFromKubeconfig(path),
      /current-context: is not set, and no context was given \(known: a\)/,
    )
    await assert.rejects(configFromKubeconfig(path, { context: 'z' }), /has no context "z" \(known: a\)/)
  })
})

describe('several kubeconfigs', () => {
  test('are merged: the first to name something wins, missing ones are skipped', async (t) => {
    const path = await directory(t, {
      one: { 'current-context': 'b', users: [{ name: 'b-user', user: { token: 'first' } }] },
      'two/config': kubeconfig('b', { user: { token: 'second' }, cluster: { 'certificate-authority': 'ca' } }),
      'two/ca': 'beside the second',
      three: kubeconfig('c'),
    })
    const env = { KUBECONFIG: ['one', 'missing', 'two/config', 'three'].map((name) => join(path, name)).join(':') }
    const config = await loadConfig({ env })
    assert.equal(config.server, 'https://b:6443')
    assert.equal(config.ca, 'beside the second')
    assert.deepEqual(await config.credentials(), { token: 'first' })
    assert.equal((await loadConfig({ env, context: 'c' })).server, 'https://c:6443')
  })
})

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }

  test('uses the service account', async (t) => {
    const path = await directory(t, { token: 'x\n', 'ca.crt': PEM, namespace: 'ops\n' })
    const { credentials, ...rest } = await inClusterConfig({ env, directory: path })
    assert.deepEqual(rest, { server: 'https://[fd00::1]:443', namespace: 'ops' })
    assert.deepEqual(await credentials(), { token: 'x', ca: PEM })
  })

  test('a missing file is named, and so is a missing variable', async (t) => {
    const path = await directory(t, { token: 'x\n' })
    await assert.rejects(inClusterConfig({ env, directory: path }), /ca.crt: cannot read the credential/)
    await assert.rejects(inClusterConfig({ env: {}, directory: path }), /KUBERNETES_SERVICE_HOST/)
  })
})

describe('default configuration', () => {
  test('is the given file, then $KUBECONFIG, then the home directory', async (t) => {
    const path = await directory(t, {
      asked: kubeconfig('a'),
      listed: kubeconfig('b'),
      '.kube/config': kubeconfig('c'),
    })
    const env = { HOME: path, KUBECONFIG: join(path, 'listed') }
    assert.equal((await loadConfig({ kubeconfig: join(path, 'asked'), env })).server, 'https://a:6443')
    assert.equal((await loadConfig({ env })).server, 'https://b:6443')
    assert.equal((await loadConfig({ env: { HOME: path } })).server, 'https://c:6443')
    await assert.rejects(loadConfig({ env: { HOME: join(path, 'empty') } }), /\.kube\/config: no such file/)
  })
})
