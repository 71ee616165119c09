/**
 * TorchServe, archived by its project since August 2025: it gets no fixes, so no framework selects it by itself. It serves every model archive (.mar) that it finds. By default it listens on the loopback only, requires a token
 * with each request and writes its metrics to a log. Its /ping answers 200 while workers still load or crash, so readiness
 * queries the management port, which stays on the loopback, for the workers of all models.
 */
import type { ModelServerSpec } from '../../../api/modelserver.v1.ts'
import { FILES_DIRECTORY } from '../../../api/server-paths.ts'
import { liveness, readiness, starting } from './probe.ts'

const CONFIG = 'config.properties'
const STORE = '/mnt/models'

const configuration = `inference_address=http://0.0.0.0:8080
management_address=http://127.0.0.1:8081
metrics_address=http://0.0.0.0:8082
metrics_mode=prometheus
disable_token_authorization=true
model_store=${STORE}
load_models=all
`

const WORKERS_READY = [
  'import json, urllib.request as web',
  "ask = lambda path: json.load(web.urlopen('http://127.0.0.1:8081/models' + path, timeout=4))",
  "models = ask('')['models']",
  "workers = [w['status'] for m in models for v in ask('/' + m['modelName']) for w in v['workers']]",
  "raise SystemExit(0 if workers and all(s == 'READY' for s in workers) else 1)",
].join('\n')

/** It starts a Python beside workers that may use all the CPU there is. */
const check = { command: ['python', '-c', WORKERS_READY], timeoutSeconds: 10 }

export const torchserve: ModelServerSpec = {
  image: 'docker.io/pytorch/torchserve:0.12.0-cpu',
  port: 8080,
  command: ['torchserve'],
  args: [
    '--start',
    '--foreground',
    '--no-config-snapshots',
    '--disable-token-auth',
    `--model-store=${STORE}`,
    `--ts-config=${FILES_DIRECTORY}/${CONFIG}`,
    '--models',
    'all',
  ],
  env: [
    { name: 'LOG_LOCATION', value: '/tmp/logs' },
    { name: 'METRICS_LOCATION', value: '/tmp/logs' },
    { name: 'TEMP', value: '/tmp' },
  ],
  files: [{ name: CONFIG, content: configuration }],
  probes: {
    startup: { ...starting('/ping'), ...check },
    readiness: { ...readiness('/ping'), periodSeconds: 10, ...check },
    liveness: liveness('/ping'),
  },
  model: { mountPath: STORE, layout: 'file', readOnly: true },
}
