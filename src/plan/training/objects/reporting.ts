/**
 * What a pod needs to report its progress: the address, a token that is bound to the pod, and the certificates to trust.
 * The certificates are an annotation of the pod, mounted as a file, so they need neither an object nor a write of their own.
 * The kubelet renews the token.
 */
import { kubeflowReportPath, REPORT_AUDIENCE, reportPath } from '../../../api/training-report.ts'
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import { type Variable, variable } from '../../pod/variable.ts'
import { REPORT_CA_ANNOTATION } from '../names.ts'
import type { Reporting } from '../observe/observed.ts'
import { REPORT_DIRECTORY } from './paths.ts'

const VOLUME = 'ml-operator'
const TOKEN_SECONDS = 3600
const TOKEN_FILE = `${REPORT_DIRECTORY}/token`
const CA_FILE = `${REPORT_DIRECTORY}/ca.crt`

export const reportAnnotations = (reporting: Reporting | undefined): Record<string, string> =>
  reporting ? { [REPORT_CA_ANNOTATION]: reporting.ca } : {}

/** Also the variables of Kubeflow's KEP-2779, which some libraries use without any configuration. */
export function reportVariables({ metadata }: TrainingJob, reporting: Reporting | undefined): Variable[] {
  if (!reporting) return []
  const { namespace = 'default', name } = metadata
  return [
    ...variable('ML_OPERATOR_REPORT_URL', `${reporting.url}${reportPath(namespace, name)}`),
    ...variable('ML_OPERATOR_REPORT_TOKEN_FILE', TOKEN_FILE),
    ...variable('ML_OPERATOR_REPORT_CA_FILE', CA_FILE),
    ...variable('KUBEFLOW_TRAINER_SERVER_URL', `${reporting.url}${kubeflowReportPath(namespace, name)}`),
    ...variable('KUBEFLOW_TRAINER_SERVER_CA_CERT', CA_FILE),
    ...variable('KUBEFLOW_TRAINER_SERVER_TOKEN', TOKEN_FILE),
  ]
}

export const reportMount = { name: VOLUME, mountPath: REPORT_DIRECTORY, readOnly: true } as const

export const reportVolume = {
  name: VOLUME,
  projected: {
    sources: [
      { serviceAccountToken: { audience: REPORT_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      {
        downwardAPI: {
          items: [{ path: 'ca.crt', fieldRef: { fieldPath: `metadata.annotations['${REPORT_CA_ANNOTATION}']` } }],
        },
      },
    ],
  },
} as const
