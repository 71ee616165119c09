import { type Alert, hasIncreased } from '../alert.ts'

const RUNNING =
  'on (namespace, trainingjob) label_replace(trainingjob_state{state="Running"}, "trainingjob", "$1", "name", "(.+)")'

/** Alerts about TrainingJobs. */
export const trainingAlerts: readonly Alert[] = [
  {
    name: 'TrainingJobFailed',
    severity: 'warning',
    expr: hasIncreased('trainingjob_failed_total', '15m', 'namespace, reason'),
    for: '0m',
    summary: 'A TrainingJob in {{ $labels.namespace }} has failed: {{ $labels.reason }}',
    meaning: 'A job has ended with the state Failed in the last 15 minutes. It is not restarted.',
    look: [
      'Find it: `kubectl -n NAMESPACE get trainingjobs`.',
      'Read `status.lastFailure`: rank, node, exit code, reason and the end of the log: `kubectl -n NAMESPACE describe trainingjob NAME`.',
    ],
    fix: [
      '`BackoffLimitReached`: fix the cause of the failures, or raise `backoffLimit`.',
      '`DeadlineExceeded`: raise `activeDeadlineSeconds`.',
      '`NonRetryableExit`, `RestartPolicyNever`: the spec says not to restart; fix the cause that the log shows.',
      'Create the job again. It resumes from its last checkpoint if its claim still exists and its name is the same.',
    ],
  },
  {
    name: 'TrainingJobPending',
    severity: 'warning',
    expr: 'trainingjob_state{state="Pending"} == 1',
    for: '30m',
    summary: 'TrainingJob {{ $labels.namespace }}/{{ $labels.name }} has waited for 30 minutes',
    meaning: 'The job has no nodes for its workers, or may not create them.',
    look: ['Read the reason: `kubectl -n NAMESPACE get trainingjob NAME -o jsonpath={.status.reason}`.'],
    fix: [
      '`InsufficientGPU` and other reasons about nodes: add nodes, end other jobs, or ask for fewer workers.',
      'A quota: raise it, or wait for other jobs.',
      'A claim: check its StorageClass and the events of the claim.',
    ],
  },
  {
    name: 'TrainingJobNotStarting',
    severity: 'warning',
    expr: 'trainingjob_state{state=~"Initializing|Restarting"} == 1',
    for: '1h',
    summary: 'TrainingJob {{ $labels.namespace }}/{{ $labels.name }} is {{ $labels.state }} for an hour',
    meaning: 'Workers have nodes, but do not all run, or the job restarts with a long backoff.',
    look: [
      'Read the reason and the status of each worker: `kubectl -n NAMESPACE describe trainingjob NAME`.',
      'Check the pods: `kubectl -n NAMESPACE get pods -l trainingjob=NAME`.',
    ],
    fix: [
      'An image that cannot be pulled: fix its name or the pull Secret.',
      'Workers that crash at once: read `status.lastFailure.log`.',
      'A worker that waits for another one: check its node and volumes.',
    ],
  },
  {
    name: 'TrainingJobStalled',
    severity: 'warning',
    expr: `(changes(trainingjob_progress_percent[1h]) == 0 and trainingjob_progress_percent < 100) and ${RUNNING}`,
    for: '1h',
    summary: 'TrainingJob {{ $labels.namespace }}/{{ $labels.trainingjob }} makes no progress',
    meaning:
      'The job runs, but its reported progress has not changed for two hours. One hanging worker stops all others.',
    look: [
      'Check whether the GPUs are busy: `trainingjob_gpu_utilization_percent`.',
      'Read the log of rank 0: `kubectl -n NAMESPACE logs NAME-workers-0 --tail=50`.',
      'Check the network between the nodes and the time of the last checkpoint.',
    ],
    fix: [
      'To restart the workers from the last checkpoint, set `spec.suspend` to true, and back to false when the job is Suspended.',
      'If epochs are long, report the progress more often, or silence the alert for this job.',
    ],
  },
  {
    name: 'TrainingJobGpusIdle',
    severity: 'warning',
    expr: `trainingjob_gpu_utilization_percent < 5 and ${RUNNING}`,
    for: '30m',
    summary: 'TrainingJob {{ $labels.namespace }}/{{ $labels.trainingjob }} holds GPUs that it does not use',
    meaning: 'The job runs and has GPUs, but uses less than 5 percent of them.',
    look: [
      'Check its progress and its log: `kubectl -n NAMESPACE logs NAME-workers-0 --tail=50`.',
      'Check the CPU and the storage of the workers: slow input leaves GPUs idle.',
    ],
    fix: ['Give the workers more CPU or faster storage for the data set.', 'Suspend the job to free its GPUs.'],
  },
]
