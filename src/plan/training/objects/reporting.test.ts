/** How pods are configured to report their progress. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import type { Job, Pod } from '../../../kube/resources.ts'
import { engines } from '../engines/registry.ts'
import { REPORT_CA_ANNOTATION, TEMPLATE_ANNOTATION } from '../names.ts'
import type { Reporting } from '../observe/observed.ts'

const REPORTING: Reporting = { url: 'https://operator.system.svc:9444', ca: 'PEM' }

interface Template {
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: NonNullable<Pod['spec']>
}

/** The template that an engine creates for a job. */
function templateOf(engine: 'pods' | 'job', reporting?: Reporting, spec: object = {}): Template {
  const { observed } = new TrainingCluster({ engine, ...spec })
  const attempt = { number: 1, worldSize: 1 }
  const [object] = engines[engine].create({ ...observed, ...(reporting && { reporting }) }, attempt, [
    { role: 'worker', index: 0 },
  ])
  const { metadata, spec: pod } = engine === 'job' ? ((object as Job).spec?.template ?? {}) : (object as Pod)
  return { annotations: metadata?.annotations ?? {}, spec: pod as Template['spec'] }
}

const valuesOf = ({ spec }: Template): Record<string, string | undefined> =>
  Object.fromEntries((spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]))

for (const engine of ['pods', 'job'] as const) {
  describe(`engine ${engine}`, () => {
    test('variables', () => {
      const template = templateOf(engine, REPORTING)
      const values = valuesOf(template)
      assert.equal(
        values['ML_OPERATOR_REPORT_URL'],
        'https://operator.system.svc:9444/v1/namespaces/team-a/trainingjobs/bert/progress',
      )
      assert.equal(values['ML_OPERATOR_REPORT_TOKEN_FILE'], '/var/run/ml-operator/token')
      assert.equal(values['ML_OPERATOR_REPORT_CA_FILE'], '/var/run/ml-operator/ca.crt')
      assert.equal(
        values['KUBEFLOW_TRAINER_SERVER_URL'],
        'https://operator.system.svc:9444/apis/trainer.kubeflow.org/v1alpha1/namespaces/team-a/trainjobs/bert/status',
      )
      assert.equal(values['KUBEFLOW_TRAINER_SERVER_TOKEN'], '/var/run/ml-operator/token')
      assert.equal(values['KUBEFLOW_TRAINER_SERVER_CA_CERT'], '/var/run/ml-operator/ca.crt')
    })

    test('one volume, and an annotation with the certificates', () => {
      const template = templateOf(engine, REPORTING)
      assert.equal(template.annotations[REPORT_CA_ANNOTATION], 'PEM')
      const mount = template.spec.containers[0]?.volumeMounts?.find(({ name }) => name === 'ml-operator')
      assert.deepEqual(mount, { name: 'ml-operator', mountPath: '/var/run/ml-operator', readOnly: true })
      const volume = template.spec.volumes?.find(({ name }) => name === 'ml-operator')
      const fieldPath = "metadata.annotations['trainingjob.ml.example.com/report-ca']"
      assert.deepEqual(volume?.projected?.sources, [
        { serviceAccountToken: { audience: 'ml-operator', expirationSeconds: 3600, path: 'token' } },
        { downwardAPI: { items: [{ path: 'ca.crt', fieldRef: { fieldPath } }] } },
      ])
    })

    test('nothing without a server for reports', () => {
      const template = templateOf(engine)
      assert.doesNotMatch(JSON.stringify(template), /REPORT|KUBEFLOW|ml-operator|report-ca/)
    })

    test('other certificates, or none, do not change the fingerprint', () => {
      const fingerprint = (reporting?: Reporting) => templateOf(engine, reporting).annotations[TEMPLATE_ANNOTATION]
      assert.equal(fingerprint(REPORTING), fingerprint())
      assert.equal(fingerprint({ ...REPORTING, ca: 'other' }), fingerprint())
    })
  })
}

test('a spec cannot redirect reports by its variables', () => {
  const env = [{ name: 'ML_OPERATOR_REPORT_URL', value: 'https://elsewhere' }]
  assert.match(valuesOf(templateOf('pods', REPORTING, { env }))['ML_OPERATOR_REPORT_URL'] ?? '', /operator\.system/)
})
