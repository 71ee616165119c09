/** The test in which a real fault makes each alert fire: by its path, the alerts that it waits for. */
import { relative, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')

export const firedAlerts: Readonly<Record<string, readonly string[]>> = {
  /** By objects whose pods fail, wait or vanish. */
  'test/controlplane/monitoring.test.ts': [
    'MLOperatorMetricsOmitted',
    'MLOperatorReconcileErrors',
    'ModelDeploymentDegraded',
    'ModelDeploymentFailed',
    'ModelDeploymentPending',
    'ModelValidationFailed',
    'ModelVersionWithoutPods',
    'TrainingJobFailed',
    'TrainingJobGpusIdle',
    'TrainingJobNotStarting',
    'TrainingJobPending',
    'TrainingJobStalled',
  ],
  /** By operators that run with a fault. */
  'test/controlplane/monitoring-faults.test.ts': [
    'MLOperatorApiErrors',
    'MLOperatorCertificateExpiring',
    'MLOperatorDown',
    'MLOperatorEventLoopBlocked',
    'MLOperatorNoLeader',
    'MLOperatorQueueSlow',
    'MLOperatorUnexpectedErrors',
  ],
  /** By a model server that fails and one that is slow, behind the real router. */
  'test/node/router-alerts.test.ts': ['ModelErrorRate', 'ModelLatencyHigh'],
}

/** The alerts of a test file, given its absolute path. */
export function alertsOf(file: string): readonly string[] {
  const alerts = firedAlerts[relative(ROOT, file)]
  if (!alerts) throw new Error(`${file} is not in firedAlerts`)
  return alerts
}
