/** The headless Service that gives every pod of the gang its name in DNS, before it is ready, so that none waits long. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { Service } from '../../kube/resources.ts'
import { jobLabels, serviceName } from './names.ts'

export function headlessService(job: TrainingJob): Service {
  const { masterPort } = job.spec.networking
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName(job), labels: { ...jobLabels(job), component: 'workers' } },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: { ...jobLabels(job), component: 'worker' },
      ports: [{ name: 'master', port: masterPort, targetPort: masterPort, protocol: 'TCP' }],
    },
  }
}
