/** Changes of a complete ModelDeployment that make its rollout meaningless. */
import type { Change, Row } from './bad-manifests.ts'

const rolled = (rollout: object): Change => ({ rollout })
const measured = (metric: object): Change =>
  rolled({ analysis: { metrics: [{ name: 'drift', query: 'max(drift)', ...metric }] } })

export const badRollouts: readonly Row[] = [
  ['steps that go backwards', rolled({ steps: [{ weight: 50 }, { weight: 10 }] }), 'rollout.steps', 'must increase'],
  ['a step above 100', rolled({ steps: [{ weight: 101 }] }), 'steps[0].weight', 'less than or equal to 100'],
  ['a gate with a time', rolled({ steps: [{ weight: 5, pause: true, pauseSeconds: 5 }] }), 'steps[0]', 'keep pause'],
  ['an analysis without a limit', rolled({ analysis: {} }), 'rollout.analysis', 'set maxErrorRate'],
  ['a metric without a query', measured({ query: undefined, max: '5' }), 'analysis.metrics[0]', 'a query or a job'],
  ['a metric with a query and a job', measured({ job: { image: 'a' } }), 'analysis.metrics[0]', 'and not both'],
  [
    'a Job with a limit',
    measured({ query: undefined, job: { image: 'a' }, max: '5' }),
    'analysis.metrics[0]',
    'remove max, min and maxRatio',
  ],
  [
    'a Job with a variable of the operator',
    measured({ query: undefined, job: { image: 'a', env: [{ name: 'MODEL_URL', value: 'x' }] } }),
    'job.env[0].name',
    'choose another name',
  ],
  ['a Job without time', measured({ query: undefined, job: { image: 'a', timeoutSeconds: 0 } }), 'timeoutSeconds', '1'],
  ['a metric without a limit', measured({}), 'analysis.metrics[0]', 'set max, min or maxRatio'],
  ['a limit that is no number', measured({ max: '5 ms' }), 'metrics[0].max', 'a number as text'],
  ['a ratio that is no percentage', measured({ maxRatio: '1.2' }), 'metrics[0].maxRatio', 'example 120%'],
  [
    'a metric with a name that is taken',
    measured({ name: 'errorRate', max: '5' }),
    'metrics[0].name',
    'use another name',
  ],
  ['a metric with a name of two words', measured({ name: 'a b', max: '5' }), 'metrics[0].name', 'begin with a letter'],
  ['a p99 of nothing', rolled({ analysis: { maxLatencyP99Ms: 0 } }), 'maxLatencyP99Ms', 'greater than or equal to 1'],
  ['an error rate that is no percentage', rolled({ analysis: { maxErrorRate: '0.5' } }), 'maxErrorRate', 'example 1%'],
  [
    'an analysis without counted requests',
    { ...rolled({ analysis: { maxErrorRate: '1%' } }), traffic: { provider: 'replicas' } },
    'spec.rollout',
    'set spec.traffic.provider',
  ],
  [
    'steps of a switch',
    rolled({ strategy: 'blueGreen', steps: [{ weight: 10 }] }),
    'rollout.steps',
    'set spec.rollout.strategy to canary',
  ],
  [
    'steps without spare pods',
    rolled({ strategy: 'recreate', steps: [{ weight: 10 }] }),
    'rollout.steps',
    'remove steps',
  ],
  [
    'old versions kept in a canary',
    rolled({ steps: [{ weight: 10 }], blueGreen: { keepSeconds: 60 } }),
    'rollout.blueGreen',
    'set spec.rollout.strategy to blueGreen',
  ],
  [
    'a preview with a gate and a time',
    rolled({ strategy: 'blueGreen', blueGreen: { pause: true, previewSeconds: 5 } }),
    'rollout.blueGreen',
    'keep pause',
  ],
  ['an unknown strategy', rolled({ strategy: 'rainbow' }), 'rollout.strategy', '"blueGreen"'],
  [
    'a preview without pods',
    { ...rolled({ strategy: 'blueGreen' }), traffic: { provider: 'replicas' } },
    'spec.rollout',
    'set another provider',
  ],
  [
    'an analysis of a single version without a counting provider',
    { ...rolled({ strategy: 'recreate', analysis: { maxErrorRate: '1%' } }), traffic: { provider: 'auto' } },
    'spec.rollout',
    'set spec.traffic.provider to istio or gateway or router',
  ],
  ['paused without a rollout', { rollout: undefined, rollbackTo: undefined }, 'spec.paused', 'set rollout'],
  ['a rollback without a rollout', { rollout: undefined, paused: undefined }, 'spec.rollbackTo', 'set rollout'],
  ['a rollback to nothing', { rollbackTo: {} }, 'spec.rollbackTo', 'set one of them'],
]
