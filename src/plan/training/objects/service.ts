/** The headless Service for the DNS names of the pods. It publishes them before they are ready, so that pods find each other. */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { Service } from '../../../kube/resources.ts'
import { jobLabels, objectLabels, serviceName } from '../names.ts'

export function headlessService(job: TrainingJob): Service {
  const { masterPort } = job.spec.networking
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName(job), labels: { ...objectLabels(job, 'workers'), component: 'workers' } },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { ...jobLabels(job), component: 'worker' },
      ports: [{ name: 'master', port: masterPort, targetPort: masterPort, protocol: 'TCP' }],
    },
  }
}
