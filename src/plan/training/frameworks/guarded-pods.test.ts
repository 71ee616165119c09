/** Everything that the operator puts into the pods of any framework is guarded against pod templates. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { trainingGuards } from '../../../api/pod-guards.ts'
import { defaultTrainingConfig } from '../config.ts'
import { podName } from '../names.ts'
import { podTemplate } from '../objects/pod-template.ts'
import { frameworks } from './registry.ts'
import { rolesOf } from './roles.ts'

const { variables, paths, name: own } = trainingGuards.container
const reporting = { url: 'https://operator.system.svc:9444', ca: 'CERTIFICATE' }
/** Defaults that a spec may replace, and hyperparameters. */
const REPLACEABLE = /^(NCCL_DEBUG|NCCL_SOCKET_IFNAME|PYTHONUNBUFFERED|HYPERPARAM(ETERS|_.*))$/

for (const [framework, { roles = {} }] of Object.entries(frameworks))
  for (const command of [['train'], ['torchrun', 'x']])
    test(`framework ${framework}, ${command[0]}: variables, volumes and mounts are guarded`, () => {
      const { job } = new TrainingCluster({
        framework,
        command,
        numWorkers: 2,
        dataVolume: { claimName: 'data' },
        hyperparameters: { epochs: 3 },
        elastic: { minWorkers: 1, maxWorkers: 4 },
        roles: Object.keys(roles).map((name) => ({ name, replicas: 1 })),
      })
      for (const role of ['worker', ...rolesOf(job.spec).map(({ name }) => name)]) {
        const identity = { job, attempt: { number: 2, worldSize: 2 }, role, index: '0', rank: { name: 'RANK' } }
        const { spec } = podTemplate({ ...identity, hostname: podName }, defaultTrainingConfig, { reporting })
        const [container] = spec.containers
        assert.equal(container?.name, own)
        const free = container?.env?.map(({ name }) => name).filter((name) => !REPLACEABLE.test(name)) ?? []
        assert.deepEqual(
          free.filter((name) => !variables.includes(name)),
          [],
        )
        const names = spec.volumes?.map(({ name }) => name) ?? []
        assert.deepEqual(
          names.filter((name) => !trainingGuards.volumes.includes(name)),
          [],
        )
        const mounted = container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? []
        assert.deepEqual(
          mounted.filter((path) => !new RegExp(paths).test(path)),
          ['/checkpoints'],
        )
      }
    })
