import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Kubectl } from '../../testenv/kubectl.ts'
import { restrictedNamespace } from '../cluster/node-cluster.ts'
import { loadToolbox, toolboxContainer, toolboxPod } from '../images/toolbox.ts'
import { until } from '../timing/until.ts'

const WEB = 'httpd -f -p 8080 -h /www'

function webPod(name: string, spec: object = {}): object {
  return toolboxPod(name, WEB, { spec })
}

function service(name: string, spec: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
  }
}

async function ready(kubectl: Kubectl, pod: string): Promise<void> {
  await kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=60s')
}

async function succeeded(kubectl: Kubectl, pod: string): Promise<string> {
  await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', `pod/${pod}`, '--timeout=60s')
  return kubectl('logs', pod)
}

describe('a node runs workloads', () => {
  before(loadToolbox)

  test('a Deployment becomes ready by its probe, and its Service answers at a ClusterIP', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const probe = { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 }
    const script = `mkdir /tmp/www; echo pod > /tmp/www/index.html; httpd -f -p 8080 -h /tmp/www & while [ ! -f /tmp/go ]; do sleep 0.1; done; touch /tmp/www/ready; wait`
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [toolboxContainer(script, { readinessProbe: probe })] },
    }
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
    }
    await kubectl.with([deployment, service('web', {}), toolboxPod('client', 'sleep infinity')], 'create')
    await kubectl('wait', '--for=jsonpath={.status.phase}=Running', 'pod', '-l', 'app=web', '--timeout=60s')
    await ready(kubectl, 'client')
    const readyReplicas = (): Promise<string> =>
      kubectl('get', 'deployment', 'web', '-o=jsonpath={.status.readyReplicas}')
    assert.equal(await readyReplicas(), '', 'running, but not ready before the probe says so')

    for (const pod of (await kubectl('get', 'pods', '-l', 'app=web', '-o=name')).trim().split('\n')) {
      await until(`a shell in ${pod}`, async () => (await kubectl('exec', pod, '--', 'touch', '/tmp/go')) === '')
    }
    await kubectl('rollout', 'status', 'deployment/web', '--timeout=60s')
    const address = await kubectl('get', 'service', 'web', '-o=jsonpath={.spec.clusterIP}')
    await until(
      'an answer at the ClusterIP from a pod',
      async () => (await kubectl('exec', 'client', '--', 'wget', '-q', '-O-', `http://${address}/`)) === 'pod\n',
    )
    await until('an answer at the ClusterIP from this machine', async () => (await fetch(`http://${address}/`)).ok)
  })

  test('the DNS name of a pod behind a headless Service resolves from another pod', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const web = toolboxPod('rank-0', WEB, {
      metadata: { labels: { app: 'workers' } },
      spec: { hostname: 'rank-0', subdomain: 'workers' },
    })
    const client = toolboxPod('client', 'until wget -q -O- http://rank-0.workers:8080/ 2>/dev/null; do sleep 0.2; done')
    await kubectl.with(
      [service('workers', { clusterIP: 'None', publishNotReadyAddresses: true }), web, client],
      'create',
    )
    assert.equal(await succeeded(kubectl, 'client'), 'hello\n')
  })

  test('an Indexed Job completes, and each pod has its index', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'ranks' },
      spec: {
        completions: 3,
        parallelism: 3,
        completionMode: 'Indexed',
        template: {
          spec: { restartPolicy: 'Never', containers: [toolboxContainer('echo index $JOB_COMPLETION_INDEX')] },
        },
      },
    }
    await kubectl.with([job], 'create')
    await kubectl('wait', '--for=condition=Complete', 'job/ranks', '--timeout=60s')
    const logs = await kubectl('logs', '-l', 'job-name=ranks')
    assert.deepEqual(logs.trim().split('\n').toSorted(), ['index 0', 'index 1', 'index 2'])
  })

  test('two writers share data through a PVC of the default StorageClass', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'shared' },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Gi' } } },
    }
    const writer = (mine: string, other: string): object =>
      toolboxPod(
        mine,
        `echo from ${mine} > /data/${mine}; until [ -s /data/${other} ]; do sleep 0.1; done; cat /data/${other}`,
        {
          spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'shared' } }] },
          container: { volumeMounts: [{ name: 'data', mountPath: '/data' }] },
        },
      )
    await kubectl.with([claim, writer('one', 'two'), writer('two', 'one')], 'create')
    assert.equal(await succeeded(kubectl, 'one'), 'from two\n')
    assert.equal(await succeeded(kubectl, 'two'), 'from one\n')

    const volume = await kubectl('get', 'pvc', 'shared', '-o=jsonpath={.spec.volumeName}')
    await kubectl('delete', 'pod', 'one', 'two')
    await kubectl('delete', 'pvc', 'shared')
    await kubectl('wait', '--for=delete', `pv/${volume}`, '--timeout=60s')
  })

  test('one GPU goes to one pod; the second is pending with a reason', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const gpuPod = (name: string): object =>
      toolboxPod(name, 'sleep infinity', { container: { resources: { limits: { 'nvidia.com/gpu': '1' } } } })
    await kubectl.with([gpuPod('first')], 'create')
    await ready(kubectl, 'first')
    await kubectl.with([gpuPod('second')], 'create')
    const reason = await until('the reason of the second', async () => {
      const message = await kubectl(
        'get',
        'pod',
        'second',
        '-o=jsonpath={.status.conditions[?(@.type=="PodScheduled")].message}',
      )
      return message === '' ? undefined : message
    })
    assert.match(reason, /Insufficient nvidia\.com\/gpu/)
    await kubectl('delete', 'pod', 'first')
    await ready(kubectl, 'second')
  })

  test('logs and exec go through the API server', async (t) => {
    const kubectl = await restrictedNamespace(t)
    await kubectl.with([webPod('box'), toolboxPod('talker', 'echo one; echo two; sleep infinity')], 'create')
    await ready(kubectl, 'box')
    await ready(kubectl, 'talker')
    assert.equal(await kubectl('exec', 'box', '--', 'cat', '/www/index.html'), 'hello\n')
    await until('both lines', async () => (await kubectl('logs', 'talker')) === 'one\ntwo\n')
    await assert.rejects(kubectl('exec', 'box', '--', 'ls', '/nowhere'), /No such file/)
  })

  test('a pod calls the API with the permissions of its ServiceAccount only', async (t) => {
    const kubectl = await restrictedNamespace(t)
    await kubectl('create', 'role', 'reader', '--verb=get,list', '--resource=configmaps')
    const namespace = (await kubectl('get', 'role', 'reader', '-o=jsonpath={.metadata.namespace}')).trim()
    await kubectl('create', 'rolebinding', 'reader', '--role=reader', `--serviceaccount=${namespace}:default`)
    const env = { env: [{ name: 'HOME', value: '/tmp' }] }
    await kubectl.with(
      [toolboxPod('caller', 'kubectl get configmaps -o name && ! kubectl get secrets 2>&1', { container: env })],
      'create',
    )
    const output = await succeeded(kubectl, 'caller')
    assert.match(output, /configmap\/kube-root-ca\.crt/)
    assert.match(output, /cannot list resource "secrets"/)
  })

  test('an HPA scales by what metrics-server measures', async (t) => {
    const kubectl = await restrictedNamespace(t)
    const busy = toolboxContainer('while true; do :; done', {
      resources: { requests: { cpu: '10m' }, limits: { cpu: '100m' } },
    })
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'busy' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'busy' } },
        template: {
          metadata: { labels: { app: 'busy' } },
          spec: { terminationGracePeriodSeconds: 0, containers: [busy] },
        },
      },
    }
    const autoscaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'busy' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'busy' },
        minReplicas: 1,
        maxReplicas: 2,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    }
    await kubectl.with([deployment, autoscaler], 'create')
    await kubectl('wait', '--for=jsonpath={.spec.replicas}=2', 'deployment/busy', '--timeout=180s')
  })
})
