/** Live objects whose specs have every field that can be combined: the initial states of transitions. */
import {
  mlopsModelDeployments,
  modelDeployments,
  modelServers,
  trainingJobs,
  trainingSchedules,
} from '../../src/api/kinds.ts'
import { claim } from '../builders/claim.ts'
import { mlopsModel, modelDeployment, versions } from '../builders/model-deployment.ts'
import { trainingJob } from '../builders/training-job.ts'
import { userPodTemplate } from '../builders/pod-template.ts'
import { trainingSchedule } from '../builders/training-schedule.ts'
import { countedSpec } from './counted-spec.ts'
import { movedSpecs } from './moved-specs.ts'
import type { LiveObject } from './live-objects.ts'

/** The objects of a lane. The spec of the subject is changed. */
export interface FullSpec {
  readonly name: string
  readonly subject: LiveObject
  readonly others: readonly LiveObject[]
}

const expression = { key: 'zone', operator: 'In', values: ['a'] }
const podTerm = {
  labelSelector: { matchLabels: { app: 'cache' }, matchExpressions: [expression] },
  topologyKey: 'kubernetes.io/hostname',
}
const podAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution: [podTerm],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, podAffinityTerm: podTerm }],
}

const gang = { gang: 'none', gangTimeoutSeconds: 300, spot: 'prefer' }
const placement = {
  priorityClassName: 'system-cluster-critical',
  nodeSelector: { pool: 'a' },
  tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [expression] }] },
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 5, preference: { matchExpressions: [expression] } }],
    },
    podAffinity,
    podAntiAffinity: podAffinity,
  },
}

const resources = { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } }

const envFrom = [
  { prefix: 'S_', secretRef: { name: 's', optional: true } },
  { prefix: 'C_', configMapRef: { name: 'c', optional: true } },
]
const volumes = [
  { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
  { name: 'settings', configMap: { name: 'settings' } },
  { name: 'login', secret: { secretName: 'login' } },
  { name: 'more', persistentVolumeClaim: { claimName: 'more', readOnly: true } },
]
const volumeMounts = [{ name: 'scratch', mountPath: '/scratch', subPath: 'team', readOnly: false }]

const env = [
  { name: 'A', value: '1' },
  { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'token', optional: true } } },
  { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'c', key: 'level', optional: true } } },
  { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
]

const OURS = 'ml.example.com/training-controller'
const fixed = { model: 'resnet50', dataset: 'imagenet', framework: 'pytorch', engine: 'pods', managedBy: OURS }

const training = {
  ...fixed,
  args: ['--epochs=1'],
  env,
  envFrom,
  numWorkers: 2,
  procsPerWorker: 2,
  elastic: { minWorkers: 1, maxWorkers: 4, resizePolicy: 'Now', maxWaitSeconds: 60 },
  suspend: false,
  hyperparameters: { learningRate: 0.1, batchSize: 32, epochs: 10, optimizer: 'adam' },
  checkpoint: {
    enabled: true,
    frequency: 2,
    deleteOnCompletion: false,
    keepLast: 3,
    resumeFrom: 's3://models/pretrained',
    storage: {
      type: 'pvc',
      path: '/checkpoints',
      size: '1Gi',
      storageClass: 'standard',
      accessModes: ['ReadWriteOnce'],
    },
  },
  dataVolume: { claimName: 'data', readOnly: true },
  networking: { masterPort: 29500, backend: 'gloo' },
  resources,
  restartPolicy: 'OnFailure',
  backoffLimit: 3,
  failurePolicy: { rules: [{ action: 'Fail', onExitCodes: { operator: 'In', values: [3] } }] },
  stall: { timeoutSeconds: 86_400, action: 'Restart' },
  progress: { metrics: { port: 8080, path: '/metrics' } },
  activeDeadlineSeconds: 86_400,
  ttlSecondsAfterFinished: 86_400,
  cleanPodPolicy: 'Running',
  scheduling: { schedulerName: 'default-scheduler', ...placement, topologyKey: 'topology.kubernetes.io/zone', ...gang },
  serviceAccountName: 'default',
  imagePullSecrets: [{ name: 'registry' }],
  volumes,
  volumeMounts,
  tracking: { mlflow: { experiment: 'sentiment', runName: 'nightly', tags: { team: 'nlp' } } },
  output: {
    path: 'model/model.pt',
    registerAs: 'sentiment',
    deploy: {
      name: 'sentiment',
      version: 'v2',
      modelName: 'sentiment-classifier',
      framework: 'onnx',
      runtime: 'triton',
      image: 'example.com/server:1',
      resources,
    },
  },
  podTemplate: userPodTemplate('training-worker'),
}

const program = { image: 'example.com/c:1', command: ['c'], args: ['a'] }

const withRoles = {
  framework: 'tensorflow',
  numWorkers: 1,
  checkpoint: { storage: { claimName: 'more' } },
  roles: [
    {
      name: 'chief',
      replicas: 1,
      gpus: 0,
      ...program,
      resources,
      podTemplate: userPodTemplate('training-worker'),
    },
  ],
}

const scaling = {
  minReplicas: 2,
  maxReplicas: 4,
  targetCPUUtilization: 70,
  targetMemoryUtilization: 80,
  targetGPUUtilization: 60,
}

const checksum = `sha256:${'0123456789abcdef'.repeat(4)}`

/** Only the pods of models choose their scheduler here. */
const { spec: servingSpec, ...servingHead } = userPodTemplate('server')
const servingTemplate = { ...servingHead, spec: { ...servingSpec, schedulerName: 'default-scheduler' } }

const serving = {
  modelName: 'bert',
  framework: 'sklearn',
  image: 'example.com/server:1',
  versions: versions({ v1: 90, v2: 10 }).map((version) => ({
    ...version,
    modelPath: 's3://models/bert',
    checksum,
    image: 'example.com/server:2',
    resources,
    scaling,
    args: ['--verbose'],
    env,
    envFrom,
    volumes: volumes.map((volume) => ({ ...volume, name: `own-${volume.name}` })),
    volumeMounts: volumeMounts.map((mount) => ({
      ...mount,
      name: `own-${mount.name}`,
      mountPath: `/own${mount.mountPath}`,
    })),
    podTemplate: servingTemplate,
  })),
  resources,
  args: ['--log'],
  env,
  envFrom,
  volumes,
  volumeMounts,
  scaling,
  healthCheck: { endpoint: '/health', intervalSeconds: 30, timeoutSeconds: 5, failureThreshold: 3 },
  traffic: {
    provider: 'router',
    gateways: ['public', 'infra/public'],
    hostnames: ['bert.example.com'],
    drainSeconds: 0,
    mirror: { version: 'v2', percent: 10 },
    match: ['header', 'cookie'].map((part) => ({ version: 'v2', [part]: { name: 'tester', value: 'yes' } })),
    stickiness: { cookie: 'session' },
  },
  validation: { script: 'validate.py', image: 'example.com/validator:1', timeoutSeconds: 60 },
  storage: {
    secretName: 's3',
    credentialsFile: { secretName: 'gcs', key: 'key.json', variable: 'GOOGLE_APPLICATION_CREDENTIALS' },
    caBundle: { configMapName: 'ca', key: 'ca.crt' },
    size: '1Gi',
    storageClass: 'standard',
    accessMode: 'ReadWriteMany',
  },
  scheduling: placement,
  serviceAccountName: 'default',
  imagePullSecrets: [{ name: 'registry' }],
  podTemplate: servingTemplate,
}

const probe = { path: '/ready', periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }

const server = {
  apiVersion: 'ml.example.com/v1',
  kind: 'ModelServer',
  metadata: { name: 'own' },
  spec: {
    image: 'example.com/own:1',
    port: 9000,
    command: ['serve'],
    args: ['--model=$(MODEL_PATH)'],
    env,
    envFrom,
    volumes,
    volumeMounts,
    files: [{ name: 'server.conf', content: 'workers=2' }],
    probes: { startup: probe, readiness: probe, liveness: probe },
    model: { mountPath: '/mnt/models', layout: 'file', readOnly: true },
  },
}

const check = { ...probe, command: ['check', '--quick'] }

const checking = {
  ...server,
  spec: { image: 'example.com/own:1', probes: { startup: check, readiness: check, liveness: check } },
}

const cached = { storage: { claimName: 'cache' }, traffic: { provider: 'router', stickiness: { header: 'x-user' } } }
const used = modelDeployment('', 'user', { runtime: 'own', image: undefined as never })

export const fullSpecs: readonly FullSpec[] = [
  {
    name: 'TrainingJob',
    subject: { resource: trainingJobs, object: trainingJob('', 'job', training as never) },
    others: [],
  },
  {
    name: 'TrainingJob with roles',
    subject: { resource: trainingJobs, object: trainingJob('', 'roles', withRoles as never) },
    // A later attempt lists the checkpoints in the claim that the job names.
    others: [claim('more')],
  },
  ...[training, withRoles].map((spec, index) => ({
    name: `TrainingSchedule ${index + 1}`,
    subject: {
      resource: trainingSchedules,
      object: trainingSchedule('', `schedule-${index + 1}`, {
        // Due once in four years, so that no transition starts a run.
        schedule: '0 0 29 2 *',
        timeZone: 'Europe/Berlin',
        concurrencyPolicy: 'Forbid',
        suspend: false,
        startingDeadlineSeconds: 600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        jobTemplate: {
          metadata: { labels: { team: 'a' }, annotations: { note: 'b' } },
          spec: trainingJob('', '', spec as never).spec,
        },
      }),
    },
    others: [],
  })),
  {
    name: 'ModelDeployment',
    subject: { resource: modelDeployments, object: modelDeployment('', 'bert', serving as never) },
    others: [],
  },
  {
    name: 'ModelDeployment with a cache',
    subject: {
      resource: modelDeployments,
      object: modelDeployment('', 'cached', { runtime: 'triton', ...cached } as never),
    },
    others: [],
  },
  countedSpec,
  ...movedSpecs.map((spec, index) => ({
    name: `ModelDeployment with a rollout ${index + 1}`,
    subject: { resource: modelDeployments, object: modelDeployment('', `moved-${index + 1}`, spec as never) },
    others: [],
  })),
  {
    name: 'ModelServer',
    subject: { resource: modelServers, object: server },
    others: [{ resource: modelDeployments, object: used }],
  },
  {
    name: 'ModelServer with commands as probes',
    subject: { resource: modelServers, object: checking },
    others: [{ resource: modelDeployments, object: used }],
  },
  {
    name: 'ModelDeployment of mlops.sathvik.dev',
    subject: {
      resource: mlopsModelDeployments,
      object: mlopsModel('', 'plain', {
        runtimeImage: 'example.com/server:1',
        resources,
        validateScript: 'validate.py',
        autoscale: true,
        version: 'v1',
      }),
    },
    others: [],
  },
]
