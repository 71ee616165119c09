import type { Dashboard } from '../dashboard.ts'

const HERE = 'namespace=~"$namespace"'
const VERSION = '{{namespace}}/{{name}} {{version}}'
const ROUTED = '{{namespace}}/{{model}} {{version}}'
const BY = 'sum by (namespace, model, version)'

export const servingDashboard: Dashboard = {
  name: 'ml-operator-serving',
  title: 'ML operator / Serving',
  description: 'ModelDeployments: phases, traffic, pods, and the requests of models with the built-in router.',
  namespacesOf: 'model_deployment_phase',
  panels: [
    {
      title: 'Models by Phase',
      type: 'piechart',
      queries: [{ expr: `sum by (phase) (model_deployment_phase{${HERE}})`, legend: '{{phase}}', as: 'latest' }],
    },
    {
      title: 'Traffic by Version',
      type: 'timeseries',
      unit: 'percent',
      queries: [{ expr: `model_version_weight_percent{${HERE}}`, legend: VERSION }],
    },
    {
      title: 'Unhealthy Pods',
      type: 'timeseries',
      queries: [{ expr: `model_version_replicas{${HERE}} - model_version_healthy_replicas{${HERE}}`, legend: VERSION }],
    },
    {
      title: 'Requests',
      type: 'timeseries',
      unit: 'reqps',
      queries: [{ expr: `${BY} (rate(model_router_requests_total{${HERE}}[$__rate_interval]))`, legend: ROUTED }],
    },
    {
      title: 'Errors',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: `${BY} (rate(model_router_errors_total{${HERE}}[$__rate_interval])) / ${BY} (rate(model_router_requests_total{${HERE}}[$__rate_interval]))`,
          legend: ROUTED,
        },
      ],
    },
    {
      title: 'Latency',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `max by (namespace, model, version, quantile) (model_router_request_duration_seconds{${HERE}})`,
          legend: `${ROUTED} p{{quantile}}`,
        },
      ],
    },
    {
      title: 'Pods',
      type: 'timeseries',
      queries: [{ expr: `model_version_replicas{${HERE}}`, legend: VERSION }],
    },
    {
      title: 'Validations',
      type: 'timeseries',
      description: 'Of all namespaces.',
      queries: [{ expr: 'sum by (status) (increase(model_validations_total[1h]))', legend: '{{status}}' }],
    },
    {
      title: 'Models Created',
      type: 'stat',
      description: 'In the chosen time, in all namespaces.',
      queries: [{ expr: 'sum(increase(model_deployments_created_total[$__range]))', as: 'latest' }],
    },
  ],
}
