/** The pod template of a version in its servers and in its validation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, template } from '../../../../test/builders/server-pod.ts'
import { serverTemplate, validationTemplate } from './pod-template.ts'

const podTemplate = {
  metadata: { labels: { team: 'vision' } },
  spec: {
    hostNetwork: true,
    containers: [
      { name: 'server', tty: true, livenessProbe: { exec: { command: ['ok'] } }, ports: [{ containerPort: 9 }] },
      { name: 'side', image: 'side:1' },
    ],
    initContainers: [
      { name: 'prepare', image: 'prepare:1' },
      { name: 'model-fetch', image: 'theirs', env: [{ name: 'HTTPS_PROXY', value: 'http://proxy' }] },
    ],
  },
}
const own = { spec: { hostNetwork: null, tolerations: [{ key: 'spot' }] } }
const [version = {}] = at('s3://b/m').versions
const spec = {
  image: 'own:1',
  validation: { script: 'v.py', timeoutSeconds: 5 },
  podTemplate,
  versions: [{ ...version, podTemplate: own }],
}

test('servers get the template of the model, and then that of the version', () => {
  const { pod } = template(spec, serverTemplate)
  assert.equal(pod.metadata.labels['team'], 'vision')
  assert.deepEqual(
    pod.spec.containers.map(({ name, tty }) => [name, tty]),
    [
      ['server', true],
      ['side', undefined],
    ],
  )
  assert.deepEqual([pod.spec.hostNetwork, pod.spec.tolerations], [undefined, [{ key: 'spot' }]])
  const fetch = pod.spec.initContainers?.find(({ name }) => name === 'model-fetch')
  assert.notEqual(fetch?.image, 'theirs')
  assert.ok(fetch?.env?.some(({ name }) => name === 'HTTPS_PROXY'))
})

test('a validation gets what applies to the server, without probes and other containers', () => {
  const { pod } = template(spec, validationTemplate)
  assert.deepEqual(
    pod.spec.containers.map(({ name, tty, livenessProbe, ports }) => [name, tty, livenessProbe, ports]),
    [['validate', true, undefined, undefined]],
  )
  assert.deepEqual(
    pod.spec.initContainers?.map(({ name }) => name),
    ['model-fetch', 'prepare'],
  )
  assert.deepEqual([pod.spec.restartPolicy, pod.spec.tolerations], ['Never', [{ key: 'spot' }]])
  assert.equal(pod.metadata.labels['modeldeployment.ml.example.com/role'], 'validation')
})
