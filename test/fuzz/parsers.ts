/** Parsers of data from the API server, router pods, Envoy, Prometheus, users and annotations. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseMarker } from '../../src/agent/checkpoints/marker.ts'
import { parseEffect } from '../../src/agent/router/effect.ts'
import { clustersOf, routesOf } from '../../src/agent/router/resources.ts'
import { hostAndPort, parseRoute, RouteError } from '../../src/agent/router/route.ts'
import { parseActive, parseStatistics } from '../../src/agent/router/statistics.ts'
import { TrafficCounters } from '../../src/agent/router/traffic-counters.ts'
import { checkpointsResultText, parseCheckpointsResult } from '../../src/api/checkpoint-result.ts'
import { HIDDEN_FIELDS } from '../../src/api/conversion.ts'
import { parseAnswer, PrometheusError } from '../../src/integrations/prometheus/query-answer.ts'
import { parseReport } from '../../src/integrations/router-reports.ts'
import { configFromKubeconfig } from '../../src/kube/kubeconfig.ts'
import { ConfigError } from '../../src/kube/config-error.ts'
import { compareQuantity, parseQuantity, quantityNumber } from '../../src/kube/quantity.ts'
import { scopedQuery } from '../../src/plan/promql/scoped-query.ts'
import { parseGpuPage } from '../../src/reports/gpu-page.ts'
import { parseReportBody, ReportError } from '../../src/reports/report-body.ts'
import { parseLogLine } from '../../src/reports/sources/log-line.ts'
import { LogLines } from '../../src/reports/sources/log-lines.ts'
import { parseMetricsPage } from '../../src/reports/sources/metrics-page.ts'
import { answerBytes } from '../../src/webhooks/review-bytes.ts'
import { outcome, parser, type Target } from './target.ts'

export const alpha = {
  apiVersion: 'ml.example.com/v1alpha1',
  kind: 'TrainingJob',
  metadata: {
    name: 'mnist',
    annotations: {
      [HIDDEN_FIELDS]: JSON.stringify({
        '/spec/backoffLimit': 7,
        '/spec/elastic/maxWorkers': 4,
        '/spec/numWorkers': 3,
        '/spec/checkpoint/storage/type': 's3',
        '/spec/scheduling/nodeSelector/a~1b': 'c',
        '/status/state': 'Restarting',
      }),
    },
  },
  spec: {
    framework: 'pytorch',
    image: 'i',
    command: ['c'],
    workers: 3,
    checkpointDir: '/c',
    checkpointInterval: 2,
    hyperparameters: { learningRate: '0.1' },
  },
  status: { phase: 'Running' },
}
const job = {
  apiVersion: 'ml.example.com/v1',
  kind: 'TrainingJob',
  metadata: { name: 'mnist' },
  spec: { framework: 'pytorch', image: 'i', command: ['c'], numWorkers: 3, elastic: { maxWorkers: 4 } },
  status: { state: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
}
const review = (version: string, object: unknown): string =>
  JSON.stringify({ request: { uid: 'u', desiredAPIVersion: `ml.example.com/${version}`, objects: [object] } })

export const reviews = [review('v1', alpha), review('v1alpha1', job), review('v1', job)]

const CONFIG_DUMP = JSON.stringify({
  configs: [
    { '@type': 'envoy.admin.v3.ClustersConfigDump', version_info: 'c' },
    {
      '@type': 'envoy.admin.v3.EndpointsConfigDump',
      dynamic_endpoint_configs: [
        {
          endpoint_config: {
            cluster_name: 'versions',
            endpoints: [
              {
                lb_endpoints: [
                  {
                    load_balancing_weight: 90,
                    metadata: { filter_metadata: { 'ml-operator': { version: 'v1' } } },
                  },
                ],
              },
            ],
          },
        },
      ],
    },
    {
      '@type': 'envoy.admin.v3.RoutesConfigDump',
      dynamic_route_configs: [
        {
          version_info: 'r',
          route_config: { name: 'model', virtual_hosts: [{ routes: [{ route: { cluster: 'versions' } }] }] },
        },
      ],
    },
  ],
})
const STATISTICS = `# TYPE envoy_tries_ended counter
envoy_tries_ended{version="v1",code="200",flags="-"} 18
envoy_tries_ended{version="v2",code="0",flags="UF"} 3
envoy_tries_ms{version="v1"} 62
envoy_tries_latency_bucket{version="v1",le="+Inf"} 18
envoy_http_downstream_rq_active{envoy_http_conn_manager_prefix="model"} 4
`

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: k, user: u, namespace: n } }]
clusters: [{ name: k, cluster: { server: 'https://127.0.0.1:6443', insecure-skip-tls-verify: true } }]
users: [{ name: u, user: { token: t } }]
`

export const parsers: readonly Target[] = [
  { name: 'conversion review', share: 220, seeds: reviews, start: parser((input) => answerBytes(input)) },
  {
    name: 'router report',
    share: 150,
    seeds: [
      '{"startedAt":1,"versions":[{"version":"v1","weight":100,"requests":5,"errors":0,"latencyMsSum":9}]}',
      '{"startedAt":1700000000000,"versions":[]}',
    ],
    start: parser((input) => parseReport(input.toString()), SyntaxError),
  },
  {
    name: 'answer of Prometheus',
    share: 100,
    seeds: [
      '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1700000000.1,"12.5"]}]}}',
      '{"status":"success","data":{"resultType":"scalar","result":[1700000000,"NaN"]}}',
      '{"status":"error","errorType":"bad_data","error":"1:3: parse error: unexpected end of input"}',
    ],
    start: parser((input) => parseAnswer(200, input.toString()), PrometheusError),
  },
  {
    name: 'query of a user',
    share: 100,
    seeds: [
      'sum by (le) (increase(a_bucket{x=~"y|z",w!=\'v\'}[60s])) / on (le) group_left (pod) b offset 5m > bool 1.5e-3',
      '{__name__="a"} or -max(b) without (pod) unless c{x=`y`}',
    ],
    start: parser((input) => scopedQuery(input.toString(), { namespace: 'a' })),
  },
  {
    name: 'progress report',
    share: 100,
    seeds: [
      '{"epoch":3,"totalEpochs":10,"step":1200,"totalSteps":4000,"loss":0.21,"metrics":{"lr":0.001}}',
      '{"checkpoint":{"path":"/checkpoints/3","step":1000},"time":"2026-01-01T00:00:00Z"}',
      '{"trainerStatus":{"progressPercentage":45,"metrics":[{"name":"loss","value":"0.2"}]}}',
    ],
    start: parser((input) => {
      const text = input.toString()
      return parseReportBody(text, text.includes('trainerStatus') ? 'kubeflow' : 'own')
    }, ReportError),
  },
  {
    name: 'log of a worker',
    share: 100,
    seeds: [
      'epoch=3/10 step=1200/4000 loss=0.21 lr=0.001\ncheckpoint="/a b" checkpoint_step=1000\n',
      '{"epoch":3,"totalEpochs":10,"loss":0.2,"metrics":{"lr":1}}\nEpoch [3/10], Step [100/600], Loss: 0.2\n 45%|#| 450/1000\r',
    ],
    start: parser((input) => new LogLines().push(input, 50).map(parseLogLine)),
  },
  {
    name: 'metrics of a worker',
    share: 100,
    seeds: ['# TYPE training_step gauge\ntraining_step{rank="0"} 1200\nloss 0.2 1700000000000\ntraining_lr 1e-3\n'],
    start: parser((input) => parseMetricsPage(input.toString()), ReportError),
  },
  {
    name: 'metrics of GPUs',
    share: 50,
    seeds: ['# x\nDCGM_FI_DEV_GPU_UTIL{gpu="0",namespace="team-a",pod="bert-workers-0"} 87\n'],
    start: parser((input) => parseGpuPage(input.toString())),
  },
  {
    name: 'checkpoint marker',
    share: 30,
    seeds: ['{"step":1000,"time":"2026-01-01T12:00:00.000Z","files":{"model.pt":7,"nested/optimizer.pt":0}}'],
    start: parser((input) => parseMarker(input.toString())),
  },
  {
    name: 'result of prepared checkpoints',
    share: 30,
    seeds: [
      '{"latest":{"name":"step-00001000","step":1000,"time":"2026-01-01T12:00:00.000Z"},"count":3,"pruned":2,"imported":false}',
      '{"error":"s3://bucket/x: the server answers 403; allow s3:GetObject"}',
    ],
    start: parser((input) => {
      const result = parseCheckpointsResult(input.toString())
      return result && parseCheckpointsResult(checkpointsResultText(result))
    }),
  },
  {
    name: 'route annotation',
    share: 130,
    seeds: [
      '[{"version":"v1","address":"m-v1:8080","weight":90},{"version":"v2","address":"10.0.0.2:80","weight":10}]',
      '{"versions":[{"version":"v1","address":"m-v1:80","weight":100}],"mirror":{"version":"v1","percent":5},"match":[{"version":"v1","cookie":{"name":"a","value":"b"}}],"stickiness":{"header":"x-user"}}',
    ],
    start: parser((input) => {
      const route = parseRoute(input.toString())
      const destinations = route?.versions.map(({ version, address, weight }) => ({
        version,
        weight,
        ip: hostAndPort(address).host,
        port: hostAndPort(address).port,
      }))
      return (
        route &&
        destinations && [
          routesOf({ destinations, rules: route.rules }),
          clustersOf({ destinations, rules: route.rules }),
        ]
      )
    }, RouteError),
  },
  {
    name: 'configuration of Envoy',
    share: 130,
    seeds: [CONFIG_DUMP],
    start: parser((input) => parseEffect(input.toString()), Error),
  },
  {
    name: 'statistics of Envoy',
    share: 120,
    seeds: [STATISTICS],
    start: parser((input) => {
      const page = input.toString()
      const counters = new TrafficCounters()
      counters.note(new Map(), 0)
      counters.note(parseStatistics(page), 1)
      return [parseActive(page), counters.of('v1')]
    }, Error),
  },
  {
    name: 'quantity',
    share: 100,
    seeds: ['500m', '1.5Gi', '12e3', '-0.5', '100000000000000E'],
    start: parser((input) => {
      const quantity = parseQuantity(input.toString())
      return [compareQuantity(quantity, quantity), quantityNumber(quantity)]
    }, RangeError),
  },
  {
    name: 'kubeconfig',
    share: 11,
    maxBytes: 2_048, // read once, before anything runs: YAML takes some milliseconds for each KiB
    seeds: [KUBECONFIG, `${KUBECONFIG}---\n`, JSON.stringify({ clusters: [], users: null, contexts: [{ name: 'c' }] })],
    start: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'fuzz-'))
      const file = join(directory, 'config')
      return {
        take: async (input) => {
          await writeFile(file, input)
          await outcome(async () => (await configFromKubeconfig(file, { env: {} })).credentials(), [ConfigError])
        },
        stop: () => rm(directory, { recursive: true }),
      }
    },
  },
]
