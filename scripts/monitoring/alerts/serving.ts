import { type Alert, hasIncreased } from '../alert.ts'

const DESCRIBE =
  'Read the conditions, and the reason of each version: `kubectl -n NAMESPACE describe modeldeployment NAME`.'

/** Alerts about models. */
export const servingAlerts: readonly Alert[] = [
  {
    name: 'ModelDeploymentFailed',
    severity: 'critical',
    expr: 'model_deployment_phase{phase="Failed"} == 1',
    for: '5m',
    summary: 'Model {{ $labels.namespace }}/{{ $labels.name }} is not served',
    meaning: 'The model is in the phase Failed: no version can serve it.',
    look: [DESCRIBE, 'Check the pods: `kubectl -n NAMESPACE get pods -l app=NAME`.'],
    fix: [
      'Follow the message of the version: it names the field, the image, the model source or the quota to fix.',
      'If the last change of the spec caused it, revert the change.',
    ],
  },
  {
    name: 'ModelDeploymentDegraded',
    severity: 'warning',
    expr: 'model_deployment_phase{phase="Degraded"} == 1',
    for: '15m',
    summary: 'Model {{ $labels.namespace }}/{{ $labels.name }} is served with unhealthy pods or versions',
    meaning: 'The model is served, but some of its pods or versions are not healthy. Traffic goes to the healthy ones.',
    look: [DESCRIBE],
    fix: ['Follow the message of the version.', 'Remove a version that cannot become ready from the spec.'],
  },
  {
    name: 'ModelDeploymentPending',
    severity: 'warning',
    expr: 'model_deployment_phase{phase="Pending"} == 1',
    for: '30m',
    summary: 'Model {{ $labels.namespace }}/{{ $labels.name }} is not served since 30 minutes',
    meaning: 'The model has never been ready: it is fetched, validated or loaded, or its pods wait for nodes.',
    look: [DESCRIBE, 'Follow a fetch: `kubectl -n NAMESPACE logs POD --all-containers`.'],
    fix: [
      'Follow the message of the version.',
      'Large models need a cache: see [model-delivery.md](../model-delivery.md).',
    ],
  },
  {
    name: 'ModelVersionWithoutPods',
    severity: 'critical',
    expr: 'model_version_weight_percent > 0 and model_version_healthy_replicas == 0',
    for: '2m',
    summary:
      'Version {{ $labels.version }} of model {{ $labels.namespace }}/{{ $labels.name }} gets traffic but has no healthy pod',
    meaning: 'Requests for this version fail. No other version is ready, or the traffic has not moved to it yet.',
    look: [
      DESCRIBE,
      'Check the pods of the version: `kubectl -n NAMESPACE get pods -l modeldeployment.ml.example.com/version=VERSION`.',
    ],
    fix: ['Set the weight of a healthy version to 100.', 'Fix what the message of the version names.'],
  },
  {
    name: 'ModelValidationFailed',
    severity: 'warning',
    expr: hasIncreased('model_validations_total{status="failed"}', '15m', 'status'),
    for: '0m',
    summary: 'The validation of a model has failed',
    meaning:
      'A version has failed its validation in the last 15 minutes. It gets no traffic; the other versions are not affected.',
    look: [
      'Find it: versions with the reason `ValidationFailed` in `kubectl get modeldeployments -A -o yaml`.',
      'Read the log of the Job that the message names.',
    ],
    fix: ['Fix the model or the validation script. A change of the version validates it again.'],
  },
  {
    name: 'ModelErrorRate',
    severity: 'critical',
    expr:
      'sum by (namespace, model, version) (rate(model_router_errors_total[5m])) / ' +
      'sum by (namespace, model, version) (rate(model_router_requests_total[5m])) > 0.05',
    for: '5m',
    summary:
      '{{ $value | humanizePercentage }} of the requests to version {{ $labels.version }} of {{ $labels.namespace }}/{{ $labels.model }} fail',
    meaning:
      'Requests through the router end with 5xx, without an answer, or without a connection. Other providers have no such metric.',
    look: [
      'Read the log of the servers: `kubectl -n NAMESPACE logs -l modeldeployment.ml.example.com/version=VERSION --tail=50`.',
      DESCRIBE,
    ],
    fix: [
      'Set the weight of the version to 0 in favour of a healthy one.',
      'Raise the replicas or the resources of the version if it is overloaded.',
    ],
  },
  {
    name: 'ModelLatencyHigh',
    severity: 'warning',
    expr: 'max by (namespace, model, version) (model_router_request_duration_seconds{quantile="0.99"}) > 5',
    for: '10m',
    summary:
      'Requests to version {{ $labels.version }} of {{ $labels.namespace }}/{{ $labels.model }} take more than 5 seconds',
    meaning:
      'The 99th percentile of the latest 1024 requests through a router is above 5 seconds. Long generations of LLMs can be normal.',
    look: ['Compare it with the rate of requests and with the CPU and GPUs of the servers.'],
    fix: [
      'Raise `scaling.maxReplicas`, or the resources of the version.',
      'Change the threshold for models whose answers are long.',
    ],
  },
]
