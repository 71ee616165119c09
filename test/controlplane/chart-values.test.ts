/** What each value of the chart changes in the rendered objects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import type { KubeObject } from '../../src/kube/object.ts'
import type { ConfigMap, Deployment, Pod } from '../../src/kube/resources.ts'
import { operatorConfig } from '../../src/operator-config.ts'
import { documentsOf, objectsOf, rendered, setting, SYSTEM } from '../cluster/chart.ts'

const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`

async function objects(...flags: string[]): Promise<Map<string, KubeObject>> {
  return objectsOf(await rendered(4, ...flags))
}

function deploymentOf(all: ReadonlyMap<string, KubeObject>, name = 'ml-operator') {
  const { metadata, spec } = all.get(`Deployment/${name}`) as Deployment
  const pod = spec?.template.spec
  const [container] = pod?.containers ?? []
  assert.ok(pod && container)
  return { metadata, pod, container, labels: spec.template.metadata?.labels, spec, args: container.args ?? [] }
}

const deployment = async (...flags: string[]) => deploymentOf(await objects(...flags))

interface Rule {
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

const rulesOf = (all: ReadonlyMap<string, KubeObject>, name: string) =>
  (all.get(name) as KubeObject & { readonly rules: readonly Rule[] }).rules

for (const [flags, image] of [
  [[], 'ml-operator:0.1.0'],
  [['--set=image.tag=1.2.3'], 'ml-operator:1.2.3'],
  [['--set=image.registry=r.example.com:5000/', '--set=image.tag=1.2.3'], 'r.example.com:5000/ml-operator:1.2.3'],
  [
    ['--set=image.registry=r.example.com', '--set=image.tag=1.2.3', `--set=image.digest=${DIGEST}`],
    `r.example.com/ml-operator@${DIGEST}`,
  ],
] as const) {
  test(`the image ${image}, also for agents and the test`, async () => {
    const all = await objects(...flags)
    const { container } = deploymentOf(all)
    const [check] = (all.get('Pod/ml-operator-test') as Pod).spec?.containers ?? []
    const agent = container.env?.find(({ name }) => name === 'AGENT_IMAGE')?.value
    assert.deepEqual([container.image, agent, check?.image], [image, image, image])
    assert.ok(check?.args?.includes(`--image=${image}`))
  })
}

test('fullnameOverride names every object, its flags, and what its permissions are for', async () => {
  const all = await objects('--set=fullnameOverride=second')
  const names = [...all]
    .filter(([, { kind }]) => kind !== 'CustomResourceDefinition')
    .map(([, { metadata }]) => metadata.name)
  assert.deepEqual(
    names.filter((name) => !name.startsWith('second')),
    [],
  )
  const { args, pod, spec } = deploymentOf(all, 'second')
  for (const flag of ['--lease-name=second', '--webhook-service=second-webhook', '--webhook-secret=second-webhook'])
    assert.ok(args.includes(flag), flag)
  assert.equal(pod.serviceAccountName, 'second')
  const labels = { 'app.kubernetes.io/name': 'ml-operator', 'app.kubernetes.io/instance': 'ml-operator' }
  assert.deepEqual(spec.selector.matchLabels, labels)
  const granted = rulesOf(all, 'Role/second').flatMap(({ resourceNames = [] }) => resourceNames)
  assert.deepEqual(granted, ['second', 'second-webhook'])
  const crd = JSON.stringify(all.get('CustomResourceDefinition/trainingjobs.ml.example.com'))
  assert.ok(crd.includes('"name":"second-webhook"'))
})

test('nameOverride changes the labels by which Services find the pods', async () => {
  const all = await objects('--set=nameOverride=models')
  const { labels, spec } = deploymentOf(all, 'models')
  assert.equal(labels?.['app.kubernetes.io/name'], 'models')
  assert.deepEqual(spec.selector.matchLabels, { 'app.kubernetes.io/name': 'models' })
})

test('extra arguments, variables, volumes and mounts follow ours', async () => {
  const volume = { name: 'ca', configMap: { name: 'ca' } }
  const mount = { name: 'ca', mountPath: '/etc/ca' }
  const { container, pod, args } = await deployment(
    setting('extraArgs', ['--shutdown-seconds=5']),
    setting('extraEnv', [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/ca/ca.crt' }]),
    setting('extraVolumes', [volume]),
    setting('extraVolumeMounts', [mount]),
    setting('config', { training: { user: 2000 } }),
  )
  assert.equal(args.at(-1), '--shutdown-seconds=5')
  assert.equal(container.env?.at(-1)?.value, '/etc/ca/ca.crt')
  assert.deepEqual(pod.volumes?.at(-1), volume)
  assert.deepEqual(container.volumeMounts?.at(-1), mount)
  assert.deepEqual(
    pod.volumes?.map(({ name }) => name),
    ['config', 'ca'],
  )
})

test('labels, annotations, security contexts and probes of the pod', async () => {
  const { spec, pod, container } = await deployment(
    setting('podLabels', { team: 'ml' }),
    setting('podAnnotations', { note: 'x' }),
    setting('podSecurityContext', { runAsUser: null, runAsGroup: null, fsGroup: 7 }),
    setting('securityContext', { runAsNonRoot: true }),
    setting('livenessProbe', { periodSeconds: 30 }),
  )
  assert.equal(spec.template.metadata?.labels?.['team'], 'ml')
  assert.equal(spec.template.metadata.annotations?.['note'], 'x')
  const seccompProfile = { type: 'RuntimeDefault' }
  assert.deepEqual(pod.securityContext, { fsGroup: 7, runAsNonRoot: true, seccompProfile })
  assert.equal(container.securityContext?.runAsNonRoot, true)
  assert.equal(container.securityContext.readOnlyRootFilesystem, true)
  assert.deepEqual(container.livenessProbe, { httpGet: { path: '/healthz', port: 'http' }, periodSeconds: 30 })
})

test('clusterUsers leaves the users of the operator, of jobs and of models to the cluster', async () => {
  const all = await objects('--set=clusterUsers=true', '--set=config.serving.user=2000')
  const restricted = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
  const { pod, args } = deploymentOf(all)
  assert.deepEqual(pod.securityContext, restricted)
  assert.deepEqual((all.get('Pod/ml-operator-test') as Pod).spec?.securityContext, restricted)
  assert.ok(args.includes('--config=/etc/ml-operator/config.yaml'))
  const { data } = all.get('ConfigMap/ml-operator') as ConfigMap
  const { training, serving } = operatorConfig(parse(data?.['config.yaml'] ?? ''))
  assert.deepEqual([training.user, serving.user], ['cluster', 2000], 'a user of the config takes precedence')
  assert.equal((await objects()).get('ConfigMap/ml-operator'), undefined)
})

test('a role in each watched namespace, and none for the others', async () => {
  const manifest = documentsOf(await rendered(4, '--set=watchNamespaces={a,b}', '--skip-tests'))
  const placed = (kind: string) =>
    manifest
      .filter((one) => one.kind === kind && one.metadata.name === 'ml-operator-watched')
      .map((one) => one.metadata.namespace)
  assert.deepEqual(
    [placed('Role'), placed('RoleBinding')],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  const all = new Map(manifest.map((one) => [`${one.kind}/${one.metadata.name}`, one]))
  assert.ok(deploymentOf(all).args.includes('--namespace=a,b'))
  const cluster = rulesOf(all, `ClusterRole/ml-operator-${SYSTEM}`).flatMap(({ resources }) => resources)
  const ofQueues = ['resourceflavors', 'workloadpriorityclasses', 'priorityclasses']
  assert.deepEqual(cluster, [...ofQueues, 'nodes', 'tokenreviews', 'customresourcedefinitions'])
})

test('progress reports need the webhook, and no permission if they are disabled', async () => {
  const isSet = async (...settings: Parameters<typeof objects>): Promise<boolean[]> => {
    const all = await objects(...settings)
    const rules = JSON.stringify(rulesOf(all, 'ClusterRole/ml-operator'))
    return [JSON.stringify(deploymentOf(all).pod).includes('REPORTS'), rules.includes('tokenreviews')]
  }
  assert.deepEqual(await isSet(), [true, true])
  assert.deepEqual(await isSet(setting('reports.enabled', false)), [false, false])
  assert.deepEqual(await isSet(setting('webhook.enabled', false)), [false, false])
})

test('without mlops there is no CRD, no rule and no controller of its group', async () => {
  const text = await rendered(4, '--set=mlops.enabled=false')
  assert.ok(!text.includes('mlops.sathvik.dev'))
  assert.ok(deploymentOf(objectsOf(text)).args.includes('--no-mlops'))
})

test('an own Secret provides the certificate, and the operator has no permission for Secrets and CRDs', async () => {
  const all = await objects(setting('webhook.certificate', { secretName: 'own', caBundle: 'PEM' }))
  const { pod, args } = deploymentOf(all)
  assert.ok(args.includes('--webhook-cert-dir=/etc/ml-operator-webhook'))
  assert.deepEqual(pod.volumes, [{ name: 'webhook-certificate', secret: { secretName: 'own' } }])
  const crd = JSON.stringify(all.get('CustomResourceDefinition/trainingjobs.ml.example.com'))
  assert.ok(crd.includes(`"caBundle":"${Buffer.from('PEM').toString('base64')}"`))
  const own = rulesOf(all, 'Role/ml-operator').flatMap(({ resources }) => resources)
  assert.deepEqual(own, ['leases', 'leases'])
  assert.ok(!JSON.stringify(rulesOf(all, 'ClusterRole/ml-operator')).includes('customresourcedefinitions'))
})

test('cert-manager issues the certificate for the Service and sets the CA of the CRD', async () => {
  const flag = '--set=webhook.certificate.certManager.enabled=true'
  const all = await objects(flag)
  const certificate = all.get('Certificate/ml-operator-webhook') as KubeObject & { spec: Record<string, unknown> }
  assert.equal(certificate.spec['secretName'], 'ml-operator-webhook-tls')
  assert.deepEqual(certificate.spec['issuerRef'], { kind: 'Issuer', name: 'ml-operator-webhook' })
  assert.ok((certificate.spec['dnsNames'] as string[]).includes(`ml-operator-webhook.${SYSTEM}.svc`))
  const { metadata } = all.get('CustomResourceDefinition/trainingjobs.ml.example.com') as KubeObject
  assert.equal(metadata.annotations?.['cert-manager.io/inject-ca-from'], `${SYSTEM}/ml-operator-webhook`)
  assert.ok(all.has('Issuer/ml-operator-webhook'))
  const issuerRef = setting('webhook.certificate.certManager.issuerRef', { name: 'company', kind: 'ClusterIssuer' })
  assert.ok(!(await objects(flag, issuerRef)).has('Issuer/ml-operator-webhook'))
  await assert.rejects(rendered(4, flag, '--set=webhook.certificate.secretName=own'), /exclude each other: remove one/)
})

test('the admission policy, for the watched namespaces, unless it is switched off', async () => {
  interface Policy extends KubeObject {
    readonly spec: { readonly policyName?: string; readonly matchResources?: object }
  }
  const binding = (all: ReadonlyMap<string, KubeObject>, name: string) =>
    (all.get(`ValidatingAdmissionPolicyBinding/${name}`) as Policy | undefined)?.spec
  const name = 'ml-operator-pod-permission'
  assert.deepEqual(binding(await objects(), name), { policyName: name, validationActions: ['Deny'] })
  const watched = `ml-operator-${SYSTEM}-pod-permission`
  const two = binding(await objects('--set=watchNamespaces={a,b}'), watched)
  assert.equal(two?.policyName, watched)
  const matchExpressions = [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] }]
  assert.deepEqual(two.matchResources, { namespaceSelector: { matchExpressions } })
  const off = await objects('--set=admissionPolicy.enabled=false')
  assert.deepEqual(
    [...off.keys()].filter((key) => key.startsWith('ValidatingAdmissionPolicy')),
    [],
  )
})

test('the roles of users, unless they are switched off', async () => {
  const all = await objects()
  const label = (role: string, to: string) =>
    all.get(`ClusterRole/ml-operator-${role}`)?.metadata.labels?.[`rbac.authorization.k8s.io/aggregate-to-${to}`]
  assert.deepEqual(
    [label('view', 'view'), label('edit', 'view'), label('edit', 'edit'), label('admin', 'admin')],
    ['true', undefined, 'true', 'true'],
  )
  const verbs = rulesOf(all, 'ClusterRole/ml-operator-view').flatMap(({ verbs: own }) => own)
  assert.deepEqual([...new Set(verbs)].toSorted(), ['get', 'list', 'watch'])
  assert.ok(!(await objects('--set=rbac.aggregate=false')).has('ClusterRole/ml-operator-view'))
})

test('the test runs where the operator watches', async () => {
  const place = async (...flags: string[]) => (await objects(...flags)).get('Role/ml-operator-test')?.metadata.namespace
  assert.equal(await place(), SYSTEM)
  assert.equal(await place('--set=watchNamespaces={a,b}'), 'a')
  assert.equal(await place('--set=watchNamespaces={a,b}', '--set=tests.namespace=b'), 'b')
  const { spec } = (
    await objects(setting('imagePullSecrets', [{ name: 'x' }, { name: 'y' }]), '--set=tests.storageClass=fast')
  ).get('Pod/ml-operator-test') as Pod
  for (const flag of ['--image-pull-secrets=x,y', '--storage-class=fast'])
    assert.ok(spec?.containers[0]?.args?.includes(flag), flag)
})

for (const [name, value, said] of [
  ['config', { training: { usr: 1 } }, /usr/],
  ['config', { training: { user: 'root' } }, /user/],
  ['config', { serving: { routerReplicas: 0 } }, /routerReplicas/],
  ['config', { serving: { allowedHostnames: [{ hostnames: ['a.example.com'] }] } }, /namespaces/],
  ['config', { other: {} }, /other/],
  ['image.digest', 'sha256:12', /digest/],
  ['watchNamespaces', ['A'], /watchNamespaces/],
  ['watchNamespaces', ['a', 'a'], /watchNamespaces/],
  ['webhook.certificate.secret', 'x', /secret/],
  ['extraArgs', ['no-flag'], /extraArgs/],
  ['fullnameOverride', 'x'.repeat(41), /fullnameOverride/],
] as const) {
  test(`rejects ${name} ${JSON.stringify(value)} by name`, async () => {
    for (const major of [3, 4] as const) await assert.rejects(rendered(major, setting(name, value)), said)
  })
}
