import type { Alert } from '../alert.ts'

const LOGS = 'Read the log: `kubectl -n ml-operator-system logs deployment/ml-operator --all-pods`.'

/** Alerts about the operator itself. */
export const operatorAlerts: readonly Alert[] = [
  {
    name: 'MLOperatorDown',
    severity: 'critical',
    expr: 'absent(ml_operator_leader_election_leading)',
    for: '5m',
    summary: 'No replica of ml-operator is scraped',
    meaning:
      'Prometheus gets no metrics of any replica. Running workers and models are not affected, but failed jobs are not restarted, new ' +
      'objects wait, and requests for v1alpha1 fail.',
    look: [
      'Check the pods: `kubectl -n ml-operator-system get pods`, and `kubectl describe pod` for one that is not ready.',
      LOGS,
      'If the pods are ready, check the targets in Prometheus: the ServiceMonitor may lack the labels that your Prometheus selects ' +
        '(`monitoring.labels` in the chart), or `/metrics` needs a token (`metrics.authentication`).',
    ],
    fix: [
      'Fix what the events of the pods name: image, quota, nodes or permissions.',
      'Work continues without further steps when a replica runs.',
    ],
  },
  {
    name: 'MLOperatorNoLeader',
    severity: 'critical',
    expr: 'max(ml_operator_leader_election_leading) == 0',
    for: '5m',
    summary: 'No replica of ml-operator leads',
    meaning:
      'Replicas run, but none holds the Lease. Only the leader reconciles, so nothing is created, restarted or reported.',
    look: [
      'Check who holds the Lease, and since when: `kubectl -n ml-operator-system get lease ml-operator -o yaml`.',
      'Check what a replica waits for: `/readyz` lists caches that have not synced.',
      LOGS,
    ],
    fix: [
      'If a cache does not sync, restore the missing CRD or permission that the log names.',
      'If the holder of the Lease does not exist any more, wait until the Lease expires (15 seconds). If it does not expire, check the ' +
        'clocks of the nodes and the latency of the API server.',
    ],
  },
  {
    name: 'MLOperatorReconcileErrors',
    severity: 'warning',
    // A new series counts as an increase: `increase` does not see the first error of a code.
    expr:
      'sum by (controller, code) (increase(ml_operator_reconcile_errors_total{class=~"external|permanent"}[30m]) > 0 or ' +
      '(ml_operator_reconcile_errors_total{class=~"external|permanent"} unless ml_operator_reconcile_errors_total offset 30m)) > 0',
    for: '30m',
    summary: 'Reconciles of {{ $labels.controller }} fail with {{ $labels.code }}',
    meaning:
      'Some objects cannot be reconciled because of something outside of the operator: a quota, a policy, a permission, or an object ' +
      'with the name of a child. [errors.md](../reference/errors.md) describes the code.',
    look: [
      'Find the objects: `kubectl get events -A --field-selector type=Warning,reason=ReconcileFailed`, and conditions `Conflict`.',
      LOGS + ' Each failure is one line with `namespace`, `name`, `code` and the error.',
    ],
    fix: [
      'Follow the description of the code in [errors.md](../reference/errors.md).',
      'The operator retries by itself. A change of the object causes a retry at once.',
    ],
  },
  {
    name: 'MLOperatorUnexpectedErrors',
    severity: 'warning',
    expr: 'sum by (controller) (increase(ml_operator_reconcile_errors_total{code="Unexpected"}[15m])) > 0',
    for: '15m',
    summary: 'Reconciles of {{ $labels.controller }} end with errors that the operator does not expect',
    meaning:
      'The code of the operator has thrown an error that is not in its catalogue. This is usually a defect of the operator.',
    look: [LOGS + ' Search for `"code":"Unexpected"`; `err.stack` names the place.'],
    fix: [
      'Other objects are not affected. To unblock the object, revert its last change.',
      'Report the log line and the object as a bug.',
    ],
  },
  {
    name: 'MLOperatorQueueSlow',
    severity: 'warning',
    expr: 'histogram_quantile(0.99, sum by (le, controller) (rate(ml_operator_workqueue_wait_seconds_bucket[10m]))) > 30',
    for: '15m',
    summary: 'Objects of {{ $labels.controller }} wait for more than 30 seconds for a reconcile',
    meaning: 'More objects change than the operator reconciles. Restarts and status updates are late.',
    look: [
      'Compare `ml_operator_workqueue_depth` with `ml_operator_workqueue_active`: if all workers are active, reconciles are slow.',
      'Check `ml_operator_kube_request_duration_seconds`: slow calls mean a slow API server.',
      'Check the CPU of the pod, and throttling by a CPU limit.',
    ],
    fix: [
      'Raise `concurrency` in the chart if calls are fast and the CPU is not used up.',
      'Give the operator more CPU, or split the namespaces between two operators (`watchNamespaces`).',
    ],
  },
  {
    name: 'MLOperatorApiErrors',
    severity: 'warning',
    expr: 'sum(rate(ml_operator_kube_requests_total{code=~"5..|429|none"}[10m])) / sum(rate(ml_operator_kube_requests_total[10m])) > 0.05',
    for: '15m',
    summary: '{{ $value | humanizePercentage }} of the calls to the API server fail',
    meaning:
      'The API server answers with 5xx or 429, or not at all (`none`). The operator retries, so its work is late but not lost.',
    look: [
      'Break it down: `sum by (verb, kind, code) (rate(ml_operator_kube_requests_total{code=~"5..|429|none"}[10m]))`.',
      'Check the API server: `kubectl get --raw /readyz?verbose`.',
    ],
    fix: [
      '429: raise the share of the operator by a FlowSchema, or lower `concurrency`.',
      '5xx for one kind: check admission webhooks of that kind. 5xx for all kinds: check etcd and the API server.',
      '`none`: check the network between the nodes of the operator and the API server.',
    ],
  },
  {
    name: 'MLOperatorEventLoopBlocked',
    severity: 'warning',
    expr: 'max by (pod, instance) (ml_operator_event_loop_delay_seconds{quantile="0.99"}) > 0.5',
    for: '10m',
    summary: 'The event loop of {{ $labels.instance }} is late by more than half a second',
    meaning: 'The process has one thread for its work. If it is busy or starved, leases expire and probes fail.',
    look: [
      'Check `rate(process_cpu_seconds_total[5m])`: near 1 means busy; low means that the node or a CPU limit starves it.',
      'Check `rate(nodejs_gc_duration_seconds_sum[5m])` and `process_resident_memory_bytes`: garbage collection near the memory limit.',
    ],
    fix: [
      'Remove the CPU limit, or raise it.',
      'Raise the memory limit.',
      'Lower `--metrics-objects` if scrapes are large.',
    ],
  },
  {
    name: 'MLOperatorCertificateExpiring',
    severity: 'critical',
    expr: 'min(ml_operator_webhook_certificate_expiry_seconds) - time() < 7 * 24 * 3600',
    for: '1h',
    summary: 'The certificate of the conversion webhook expires in {{ $value | humanizeDuration }}',
    meaning: 'The certificate was not renewed. When it expires, every request for v1alpha1 fails. v1 is not affected.',
    look: [
      'The operator issues the certificate: ' + LOGS,
      'cert-manager issues it: `kubectl -n ml-operator-system describe certificate ml-operator-webhook`.',
      'A Secret of yours: check its `tls.crt` with `openssl x509 -enddate`.',
    ],
    fix: [
      'Restore the permission for the Secret and the CRD that the log names, or renew your Secret.',
      'To issue a new certificate now, delete the Secret `ml-operator-webhook`; the operator creates it again.',
    ],
  },
  {
    name: 'MLOperatorMetricsOmitted',
    severity: 'info',
    expr: 'sum(trainingjob_objects_omitted) + sum(model_deployment_objects_omitted) > 0',
    for: '30m',
    summary: '{{ $value }} jobs or models have no metrics of their own',
    meaning:
      'There are more objects than `--metrics-objects` allows. Finished jobs are left out first. Alerts do not see these objects.',
    look: ['Compare `trainingjob_objects_omitted` with `ml_operator_cache_objects{kind="TrainingJob"}`.'],
    fix: [
      'Set `ttlSecondsAfterFinished`, so that finished jobs are deleted.',
      'Raise `--metrics-objects`. 10,000 jobs are about 6 MB per scrape.',
    ],
  },
]
