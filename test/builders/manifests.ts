/** A manifest with every field for each version of each kind. */

import { affinity } from './affinity.ts'
import { type Kind, type KindVersion, resourceOf } from '../../src/api/kind.ts'
import {
  mlopsModelDeploymentKind,
  modelDeploymentKind,
  modelServerKind,
  trainingJobKind,
  trainingScheduleKind,
} from '../../src/api/kinds.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { userPodTemplate } from './pod-template.ts'

export interface Manifest extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>
}

export interface Complete {
  readonly version: KindVersion
  readonly resource: Resource<Manifest>
  readonly manifest: Manifest
}

function complete(kind: Kind, versionName: string, spec: Readonly<Record<string, unknown>>): Complete {
  const version = kind.versions.find(({ name }) => name === versionName)
  if (version === undefined) throw new Error(`${kind.kind} has no version ${versionName}`)
  const apiVersion = `${kind.group}/${versionName}`
  const manifest = { apiVersion, kind: kind.kind, metadata: { name: 'complete' }, spec }
  return { version, resource: resourceOf<Manifest>(kind, versionName), manifest }
}

const resources = {
  requests: { cpu: '500m', memory: '1Gi', 'nvidia.com/gpu': 1 },
  limits: { cpu: 2, memory: '1.5Gi', 'nvidia.com/gpu': '1' },
}
const hyperparameters = { learningRate: 0.001, batchSize: 32, epochs: '10', optimizer: 'adam', betas: [0.9, 0.999] }
const probe = { path: '/ready', periodSeconds: 5, timeoutSeconds: 2, failureThreshold: 4, command: ['check'] }
const servingScaling = {
  minReplicas: 2,
  maxReplicas: 4,
  targetCPUUtilization: 60,
  targetMemoryUtilization: 80,
  targetRequestsPerSecond: 50,
  targetConcurrency: 8,
  targetQueueDepth: 4,
  targetGPUUtilization: 70,
}

const serverPod = {
  envFrom: [{ prefix: 'S3_', secretRef: { name: 's3', optional: true } }],
  volumes: [
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'login', secret: { secretName: 'login' } },
    { name: 'datasets', persistentVolumeClaim: { claimName: 'datasets', readOnly: true } },
  ],
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch', subPath: 'team-a', readOnly: false }],
}
const token = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's3', key: 'token', optional: true } } }

export const completeTrainingJob = complete(trainingJobKind, 'v1', {
  model: 'resnet50',
  dataset: 'imagenet',
  framework: 'tensorflow',
  image: 'registry/image:tag',
  command: ['python', 'train.py'],
  args: ['--fast'],
  env: [token, { name: 'OMP_NUM_THREADS', value: '4' }],
  envFrom: [{ prefix: 'S3_', secretRef: { name: 's3', optional: true } }],
  engine: 'pods',
  numWorkers: 4,
  gpusPerWorker: 2,
  procsPerWorker: 2,
  roles: [
    {
      name: 'ps',
      replicas: 2,
      gpus: 0,
      image: 'registry/ps:tag',
      command: ['serve'],
      args: ['--all'],
      resources,
      podTemplate: userPodTemplate('training-worker'),
    },
    { name: 'chief' },
  ],
  elastic: { minWorkers: 2, maxWorkers: 8, resizePolicy: 'Now', maxWaitSeconds: 60 },
  managedBy: 'ml.example.com/training-controller',
  suspend: false,
  hyperparameters,
  checkpoint: {
    enabled: true,
    frequency: 2,
    deleteOnCompletion: false,
    keepLast: 5,
    resumeFrom: 'pretraining',
    storage: { type: 'pvc', path: '/ckpt', size: '50Gi', storageClass: 'standard', accessModes: ['ReadWriteMany'] },
  },
  dataVolume: { claimName: 'data', readOnly: true },
  networking: { masterPort: 29501, backend: 'nccl' },
  resources,
  restartPolicy: 'Never',
  backoffLimit: 5,
  failurePolicy: { rules: [{ action: 'Fail', onExitCodes: { operator: 'In', values: [3, 42] } }] },
  stall: { timeoutSeconds: 1800, action: 'Restart' },
  progress: { metrics: { port: 8080, path: '/metrics' } },
  activeDeadlineSeconds: 86_400,
  ttlSecondsAfterFinished: 3600,
  cleanPodPolicy: 'All',
  scheduling: {
    schedulerName: 'default-scheduler',
    priorityClassName: 'high',
    nodeSelector: { pool: 'a100' },
    tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }],
    affinity,
    topologyKey: 'topology.kubernetes.io/zone',
    gang: 'auto',
    queueName: 'research',
    gangTimeoutSeconds: 300,
    spot: 'prefer',
  },
  serviceAccountName: 'trainer',
  imagePullSecrets: [{ name: 'registry' }],
  volumes: [
    { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'login', secret: { secretName: 'login' } },
    { name: 'datasets', persistentVolumeClaim: { claimName: 'datasets', readOnly: true } },
  ],
  volumeMounts: [{ name: 'scratch', mountPath: '/scratch', subPath: 'team-a', readOnly: false }],
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
})

export const completeTrainingSchedule = complete(trainingScheduleKind, 'v1', {
  schedule: '30 3 * * MON-FRI',
  timeZone: 'Europe/Berlin',
  concurrencyPolicy: 'Replace',
  suspend: true,
  startingDeadlineSeconds: 600,
  successfulJobsHistoryLimit: 2,
  failedJobsHistoryLimit: 2,
  jobTemplate: {
    metadata: { labels: { team: 'a' }, annotations: { 'example.com/purpose': 'nightly' } },
    spec: completeTrainingJob.manifest.spec,
  },
})

export const completeAlphaTrainingJob = complete(trainingJobKind, 'v1alpha1', {
  framework: 'xgboost',
  image: 'registry/image:tag',
  command: ['python', 'train.py'],
  args: ['--fast'],
  workers: 4,
  gpuPerWorker: 1,
  resources,
  dataVolume: { claimName: 'data', readOnly: true },
  checkpointDir: '/checkpoints/mnist',
  checkpointInterval: 2,
  hyperparameters,
  restartPolicy: 'Never',
})

export const completeModelDeployment = complete(modelDeploymentKind, 'v1', {
  modelName: 'sentiment',
  framework: 'onnx',
  runtime: 'triton',
  image: 'registry/image:tag',
  versions: [
    {
      name: 'v1',
      weight: 90,
      modelPath: 's3://models/v1',
      image: 'registry/image:v1',
      resources,
      scaling: servingScaling,
      args: ['--verbose'],
      env: [{ name: 'OMP_NUM_THREADS', value: '2' }, token],
      envFrom: [{ configMapRef: { name: 'settings', optional: true } }],
      volumes: [
        { name: 'own', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
        { name: 'own-settings', configMap: { name: 'settings' } },
        { name: 'own-login', secret: { secretName: 'login' } },
        { name: 'own-datasets', persistentVolumeClaim: { claimName: 'datasets', readOnly: true } },
      ],
      volumeMounts: [{ name: 'own', mountPath: '/own', subPath: 'team-a', readOnly: false }],
      podTemplate: userPodTemplate('server'),
    },
    { name: 'v2', weight: 10, modelPath: 'oci://registry.example.com/models/bert:v2?path=/models' },
  ],
  resources,
  args: ['--log'],
  env: [
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'LEVEL', valueFrom: { configMapKeyRef: { name: 'c', key: 'level' } } },
  ],
  ...serverPod,
  scaling: servingScaling,
  healthCheck: { endpoint: '/ready', intervalSeconds: 10, timeoutSeconds: 2, failureThreshold: 5 },
  traffic: {
    provider: 'auto',
    gateways: ['public', 'infra/public'],
    hostnames: ['*.example.com'],
    drainSeconds: 10,
    mirror: { version: 'v2', percent: 10 },
    match: [
      { version: 'v2', header: { name: 'x-tester', value: 'yes' } },
      { version: 'v1', cookie: { name: 'tester', value: 'yes' } },
    ],
    stickiness: { cookie: 'session' },
  },
  rollout: {
    strategy: 'canary',
    steps: [
      { weight: 10, pauseSeconds: 60 },
      { weight: 50, pause: true },
    ],
    analysis: {
      maxErrorRate: '1.5%',
      maxErrorRateRatio: '150%',
      maxLatencyMs: 250,
      maxLatencyP99Ms: 800,
      maxLatencyRatio: '120%',
      metrics: [
        { name: 'accuracy', query: 'avg(accuracy{version="{version}"})', max: '1', min: '0.9', maxRatio: '110%' },
        {
          name: 'quality',
          job: {
            image: 'registry/evaluate:tag',
            command: ['python'],
            args: ['evaluate.py'],
            env: [{ name: 'HOLDOUT', value: 'a' }],
            timeoutSeconds: 60,
          },
        },
      ],
      minRequests: 100,
      intervalSeconds: 30,
      failureLimit: 2,
      noTraffic: 'Fail',
      watchSeconds: 600,
    },
    autoRollback: false,
    progressDeadlineSeconds: 300,
  },
  paused: true,
  historyLimit: 5,
  rollbackTo: { revision: 3 },
  validation: { script: 'validate.py', image: 'registry/validator:tag', timeoutSeconds: 60 },
  storage: {
    secretName: 's3',
    credentialsFile: { secretName: 'gcs', key: 'key.json', variable: 'GOOGLE_APPLICATION_CREDENTIALS' },
    caBundle: { configMapName: 'ca', key: 'ca.crt' },
    size: '10Gi',
    storageClass: 'shared',
    accessMode: 'ReadWriteOnce',
  },
  scheduling: {
    priorityClassName: 'high',
    nodeSelector: { pool: 'a100' },
    tolerations: [{ key: 'spot', operator: 'Equal', value: 'yes', effect: 'NoExecute', tolerationSeconds: 60 }],
    affinity,
  },
  serviceAccountName: 'model-reader',
  imagePullSecrets: [{ name: 'registry' }],
  podTemplate: userPodTemplate('server'),
})

export const completeModelServer = complete(modelServerKind, 'v1', {
  image: 'registry/image:tag',
  port: 9000,
  command: ['serve'],
  args: ['--model=$(MODEL_PATH)'],
  env: [token, { name: 'WORKERS', value: '2' }],
  ...serverPod,
  files: [{ name: 'server.conf', content: 'model=$(MODEL_NAME)' }],
  probes: { startup: probe, readiness: probe, liveness: probe },
  model: { mountPath: '/models', layout: 'repository', readOnly: true },
})

export const completeMlopsModelDeployment = complete(mlopsModelDeploymentKind, 'v1', {
  modelURI: 'https://example.com/model.pt',
  runtime: 'triton',
  runtimeImage: 'registry/image:tag',
  resources,
  validateScript: 'validate.py',
  autoscale: true,
  version: 'v2',
})
