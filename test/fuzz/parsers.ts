/** Parsers of data from the API server, router pods, HAProxy, users and annotations. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseRequestLine } from '../../src/agent/router/request-line.ts'
import { hostAndPort, parseRoute, RouteError } from '../../src/agent/router/route.ts'
import { divisionOf, parseRetries, parseServers } from '../../src/agent/router/servers.ts'
import { commandsToward } from '../../src/agent/router/steering.ts'
import { HIDDEN_FIELDS } from '../../src/api/conversion.ts'
import { parseReport } from '../../src/integrations/router-reports.ts'
import { configFromKubeconfig } from '../../src/kube/kubeconfig.ts'
import { ConfigError } from '../../src/kube/config-error.ts'
import { compareQuantity, parseQuantity, quantityNumber } from '../../src/kube/quantity.ts'
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

const STATE = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_fqdn srv_port
3 versions 1 v1 10.0.0.1 2 0 90 0 - 8080
3 versions 2 v2 10.0.0.2 2 0 10 0 - 8080
3 versions 4 -nobody 127.0.0.1 2 0 1 1 - 1
`
const DESTINATIONS = [{ version: 'v1', ip: '10.0.0.1', port: 8080, weight: 100 }]

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
    name: 'route annotation',
    share: 130,
    seeds: [
      '[{"version":"v1","address":"m-v1:8080","weight":90},{"version":"v2","address":"10.0.0.2:80","weight":10}]',
    ],
    start: parser((input) => parseRoute(input.toString())?.map(({ address }) => hostAndPort(address)), RouteError),
  },
  {
    name: 'HAProxy servers',
    share: 130,
    seeds: [STATE],
    start: parser((input) => {
      const servers = parseServers(input.toString())
      return [divisionOf(servers), commandsToward(DESTINATIONS, servers)]
    }, Error),
  },
  {
    name: 'HAProxy statistics',
    share: 20,
    seeds: ['# pxname,svname,wretr,wredis\nversions,v1,3,1\nversions,v2,0,0\n'],
    start: parser((input) => parseRetries(input.toString()), Error),
  },
  {
    name: 'request line',
    share: 100,
    seeds: ['v1 200 12 --', 'v2 -1 40 SD', '<NOSRV> 503 0 SC'],
    start: parser((input) => parseRequestLine(input.toString())),
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
