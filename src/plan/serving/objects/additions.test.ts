/** What the model and its versions add to the pods of the server: arguments, variables and volumes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, template } from '../../../../test/builders/server-pod.ts'
import { serverTemplate, validationTemplate } from './pod-template.ts'

test('arguments: those of the runtime, then of the model, then of the version', () => {
  const versions = [{ name: 'v1', weight: 100, modelPath: '/m', args: ['--c'] }]
  assert.deepEqual(template({ image: 'own:1', args: ['--b'], versions }).container.args, ['--b', '--c'])
  const { container } = template({ runtime: 'sklearn', args: ['--b'], versions })
  assert.deepEqual(container.args, ['start', '/tmp', '--b', '--c'])
})

test('variables from Secrets, ConfigMaps and fields are in the server, and GPUs of others stay hidden', () => {
  const secretKeyRef = { name: 's', key: 'token' }
  const env = [
    { name: 'TOKEN', value: '', valueFrom: { secretKeyRef } },
    { name: 'NODE', value: '', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]
  const envFrom = [{ secretRef: { name: 's' } }]
  const { container, fetch } = template({ image: 'own:1', env, envFrom, ...at('s3://b/m') })
  assert.deepEqual(container.envFrom, envFrom)
  assert.deepEqual(
    container.env?.filter(({ valueFrom }) => valueFrom),
    [
      { name: 'TOKEN', valueFrom: { secretKeyRef } },
      { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
    ],
  )
  assert.equal(container.env?.find(({ name }) => name === 'NVIDIA_VISIBLE_DEVICES')?.value, 'void')
  assert.equal(fetch?.envFrom, undefined)
})

test('volumes of the model are in the server and in its validation, not where the model is fetched', () => {
  const volumes = [{ name: 'scratch', emptyDir: { sizeLimit: 5 } }]
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }]
  const validation = { script: 'v.py', timeoutSeconds: 5 }
  for (const kind of [serverTemplate, validationTemplate]) {
    const spec = { image: 'own:1', volumes, volumeMounts, validation: validation, ...at('s3://b/m') }
    const { pod, container, fetch } = template(spec, kind)
    assert.deepEqual(pod.spec.volumes?.at(-1), { name: 'scratch', emptyDir: { sizeLimit: '5' } })
    assert.deepEqual(container.volumeMounts?.at(-1), volumeMounts[0])
    assert.equal(fetch?.volumeMounts?.length, 1)
  }
})

test('volumes of the version come after those of the model, and replace those with the same name or path', () => {
  const volumes = [
    { name: 'a', emptyDir: {} },
    { name: 'b', configMap: { name: 'of-model' } },
  ]
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'b', mountPath: '/b' },
  ]
  const own = {
    volumes: [
      { name: 'b', configMap: { name: 'of-version' } },
      { name: 'c', secret: { secretName: 'c' } },
    ],
    volumeMounts: [
      { name: 'c', mountPath: '/a' },
      { name: 'a', mountPath: '/c' },
    ],
  }
  const versions = [{ name: 'v1', weight: 100, modelPath: '/m', ...own }]
  for (const kind of [serverTemplate, validationTemplate]) {
    const validation = { script: 'v.py', timeoutSeconds: 5 }
    const { pod, container } = template({ image: 'own:1', volumes, volumeMounts, versions, validation }, kind)
    assert.deepEqual(pod.spec.volumes?.slice(-3), [volumes[0], ...own.volumes])
    const mounts = container.volumeMounts?.slice(-3).map(({ name, mountPath }) => [name, mountPath])
    assert.deepEqual(mounts, [
      ['c', '/a'],
      ['b', '/b'],
      ['a', '/c'],
    ])
  }
})

test('a variable of the version goes before one of the model, and that before one of the runtime', () => {
  const env = [
    { name: 'A', value: 'model' },
    { name: 'MLSERVER_HTTP_PORT', value: '1' },
  ]
  const versions = [{ name: 'v1', weight: 100, modelPath: '/m', env: [{ name: 'A', value: 'version' }] }]
  const { container } = template({ runtime: 'sklearn', env, versions })
  const values = new Map(container.env?.map(({ name, value }) => [name, value]))
  assert.equal(values.get('A'), 'version')
  assert.equal(values.get('MLSERVER_HTTP_PORT'), '1')
  assert.equal(values.size, container.env?.length)
})

const files = {
  credentialsFile: { secretName: 'gcs', key: 'key.json', variable: 'GOOGLE_APPLICATION_CREDENTIALS' },
  caBundle: { configMapName: 'company-ca', key: 'ca.crt' },
}

for (const storage of [files, { ...files, claimName: 'cache' }])
  test(`credentials and certificates are files of the fetching container only, ${'claimName' in storage ? 'with' : 'without'} a cache`, () => {
    const { pod, container, fetch } = template({ image: 'own:1', storage, ...at('gs://b/m') })
    assert.deepEqual(fetch?.env, [
      { name: 'GOOGLE_APPLICATION_CREDENTIALS', value: '/etc/model-fetch/credentials/key.json' },
      { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/model-fetch/trust/ca.crt' },
      { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' },
    ])
    assert.deepEqual(
      fetch?.volumeMounts?.slice(1).map(({ name, mountPath, readOnly }) => [name, mountPath, readOnly]),
      [
        ['credentials', '/etc/model-fetch/credentials', true],
        ['trust', '/etc/model-fetch/trust', true],
      ],
    )
    const volume = (name: string) => pod.spec.volumes?.find((one) => one.name === name)
    const item = (key: string) => [{ key, path: key }]
    assert.deepEqual(volume('credentials')?.secret, { secretName: 'gcs', items: item('key.json') })
    assert.deepEqual(volume('trust')?.configMap, { name: 'company-ca', items: item('ca.crt') })
    assert.ok(!container.volumeMounts?.some(({ name }) => ['credentials', 'trust'].includes(name)))
  })

test('a model that is not fetched has no files for fetching', () => {
  const { pod, fetch } = template({ image: 'own:1', storage: files, ...at('pvc://claim/m') })
  assert.equal(fetch, undefined)
  assert.ok(!pod.spec.volumes?.some(({ name }) => ['credentials', 'trust'].includes(name)))
})
