import type { Dashboard } from '../dashboard.ts'

const RATE = '[$__rate_interval]'

export const operatorDashboard: Dashboard = {
  name: 'ml-operator-operator',
  title: 'ML operator / Operator',
  description: 'The operator itself: leadership, reconciles, queues, calls to the API server, memory and CPU.',
  panels: [
    {
      title: 'Leader',
      type: 'timeseries',
      queries: [{ expr: 'ml_operator_leader_election_leading', legend: '{{instance}}' }],
    },
    {
      title: 'Reconciles',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (controller, outcome) (rate(ml_operator_reconcile_duration_seconds_count${RATE}))`,
          legend: '{{controller}} {{outcome}}',
        },
      ],
    },
    {
      title: 'Errors',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (controller, code) (rate(ml_operator_reconcile_errors_total${RATE}))`,
          legend: '{{controller}} {{code}}',
        },
      ],
    },
    {
      title: 'Reconcile Duration, p99',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le, controller) (rate(ml_operator_reconcile_duration_seconds_bucket${RATE})))`,
          legend: '{{controller}}',
        },
      ],
    },
    {
      title: 'Queue',
      type: 'timeseries',
      queries: [
        { expr: 'sum by (controller) (ml_operator_workqueue_depth)', legend: '{{controller}} waiting' },
        { expr: 'sum by (controller) (ml_operator_workqueue_active)', legend: '{{controller}} active' },
      ],
    },
    {
      title: 'Queue Wait, p99',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le, controller) (rate(ml_operator_workqueue_wait_seconds_bucket${RATE})))`,
          legend: '{{controller}}',
        },
      ],
    },
    {
      title: 'API Calls',
      type: 'timeseries',
      unit: 'reqps',
      queries: [
        { expr: `sum by (verb, code) (rate(ml_operator_kube_requests_total${RATE}))`, legend: '{{verb}} {{code}}' },
      ],
    },
    {
      title: 'API Latency, p99',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le, verb) (rate(ml_operator_kube_request_duration_seconds_bucket${RATE})))`,
          legend: '{{verb}}',
        },
      ],
    },
    {
      title: 'Watch Restarts',
      type: 'timeseries',
      queries: [
        { expr: 'sum by (kind, cause) (increase(ml_operator_watch_restarts_total[1h]))', legend: '{{kind}} {{cause}}' },
      ],
    },
    {
      title: 'Cached Objects',
      type: 'timeseries',
      queries: [{ expr: 'max by (kind) (ml_operator_cache_objects)', legend: '{{kind}}' }],
    },
    {
      title: 'Memory',
      type: 'timeseries',
      unit: 'bytes',
      queries: [
        {
          expr: 'process_resident_memory_bytes and on (instance) ml_operator_leader_election_leading',
          legend: '{{instance}}',
        },
      ],
    },
    {
      title: 'CPU',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: `rate(process_cpu_seconds_total${RATE}) and on (instance) ml_operator_leader_election_leading`,
          legend: '{{instance}}',
        },
      ],
    },
    {
      title: 'Event Loop Delay, p99',
      type: 'timeseries',
      unit: 's',
      queries: [{ expr: 'ml_operator_event_loop_delay_seconds{quantile="0.99"}', legend: '{{instance}}' }],
    },
    {
      title: 'Writes',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        { expr: `sum by (kind, action) (rate(ml_operator_commit_writes_total${RATE}))`, legend: '{{kind}} {{action}}' },
      ],
    },
    {
      title: 'Certificate of the Webhook',
      type: 'stat',
      unit: 's',
      description: 'Time until it expires.',
      queries: [{ expr: 'min(ml_operator_webhook_certificate_expiry_seconds) - time()', as: 'latest' }],
    },
  ],
}
