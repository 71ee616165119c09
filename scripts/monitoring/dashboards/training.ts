import type { Dashboard, Panel } from '../dashboard.ts'

const HERE = 'namespace=~"$namespace"'
const JOB = '{{namespace}}/{{trainingjob}}'

const ended = (metric: string): string => `(sum(increase(${metric}{${HERE}}[$__range])) or vector(0))`

const gauge = (title: string, metric: string, unit?: string): Panel => ({
  title,
  type: 'timeseries',
  queries: [{ expr: `${metric}{${HERE}}`, legend: JOB }],
  ...(unit !== undefined && { unit }),
})

export const trainingDashboard: Dashboard = {
  name: 'ml-operator-training',
  title: 'ML operator / Training',
  description: 'TrainingJobs: states, progress, GPUs, durations and failures.',
  namespacesOf: 'trainingjob_state',
  panels: [
    {
      title: 'TrainingJobs by State',
      type: 'piechart',
      queries: [{ expr: `sum by (state) (trainingjob_state{${HERE}})`, legend: '{{state}}', as: 'latest' }],
    },
    {
      title: 'Active Training Jobs',
      type: 'timeseries',
      queries: [{ expr: `sum(trainingjob_state{state="Running",${HERE}}) or vector(0)`, legend: 'Running' }],
    },
    {
      title: 'GPU Utilization',
      type: 'gauge',
      unit: 'percent',
      queries: [
        {
          expr: `avg by (namespace, trainingjob) (trainingjob_gpu_utilization_percent{${HERE}})`,
          legend: JOB,
          as: 'latest',
        },
      ],
    },
    {
      title: 'Training Progress',
      type: 'bargauge',
      unit: 'percent',
      queries: [{ expr: `trainingjob_progress_percent{${HERE}}`, legend: JOB, as: 'latest' }],
    },
    {
      title: 'Job Duration',
      type: 'bargauge',
      description: 'Jobs that ended in the chosen time, by their duration in seconds. Of all namespaces.',
      queries: [
        {
          expr: 'sum by (le) (increase(training_job_duration_seconds_bucket[$__range]))',
          legend: '{{le}}',
          as: 'heatmap',
        },
      ],
    },
    {
      title: 'Failure Rate',
      type: 'stat',
      unit: 'percentunit',
      description: 'Share of the jobs that ended in the chosen time and have failed.',
      queries: [
        {
          expr: `${ended('trainingjob_failed_total')} / clamp_min(${ended('trainingjob_failed_total')} + ${ended('trainingjob_completed_total')}, 1)`,
          as: 'latest',
        },
      ],
    },
    gauge('Loss', 'trainingjob_loss'),
    gauge('Accuracy', 'trainingjob_accuracy'),
    gauge('Epoch', 'trainingjob_current_epoch'),
    gauge('Allocated GPUs', 'trainingjob_allocated_gpus'),
    gauge('Running Workers', 'trainingjob_allocated_workers'),
    {
      title: 'Failures by Reason',
      type: 'timeseries',
      queries: [
        {
          expr: `sum by (namespace, reason) (increase(trainingjob_failed_total{${HERE}}[1h]))`,
          legend: '{{namespace}} {{reason}}',
        },
      ],
    },
  ],
}
