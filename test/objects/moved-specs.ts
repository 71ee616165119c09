/** Models with every field about rollouts. */
import { versions } from '../builders/model-deployment.ts'

const evaluated = {
  name: 'accuracy',
  job: {
    image: 'example.com/evaluate:1',
    command: ['python'],
    args: ['evaluate.py'],
    env: [
      { name: 'HOLDOUT', value: 's3://data/holdout' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'data', key: 'token', optional: true } } },
      { name: 'SIZE', valueFrom: { configMapKeyRef: { name: 'data', key: 'size', optional: true } } },
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m' }, limits: { memory: '1Gi' } },
    timeoutSeconds: 600,
  },
}

/** How traffic moves: no effect on objects at rest. */
const moved = {
  versions: versions({ v1: 90, v2: 10 }),
  traffic: { provider: 'router' },
  rollout: {
    strategy: 'canary',
    steps: [
      { weight: 10, pauseSeconds: 60 },
      { weight: 50, pause: false },
    ],
    analysis: {
      maxErrorRate: '1%',
      maxErrorRateRatio: '150%',
      maxLatencyMs: 250,
      maxLatencyP99Ms: 800,
      maxLatencyRatio: '150%',
      metrics: [
        { name: 'drift', query: 'max(drift{version="{version}"})', max: '0.5', min: '0', maxRatio: '150%' },
        evaluated,
      ],
      minRequests: 50,
      intervalSeconds: 60,
      failureLimit: 1,
      noTraffic: 'Wait',
      watchSeconds: 300,
    },
    autoRollback: true,
    progressDeadlineSeconds: 600,
  },
  paused: false,
  historyLimit: 10,
}

/** A preview waits for a person or for a time. */
const switched = [{ pause: false, keepSeconds: 300 }, { previewSeconds: 60 }].map((blueGreen) => ({
  ...moved,
  rollout: { strategy: 'blueGreen', blueGreen },
}))

/** A revision is named by its number or by its version. */
export const movedSpecs = [
  ...[{ version: 'v1' }, { revision: 1 }].map((rollbackTo) => ({ ...moved, rollbackTo })),
  ...switched,
]
