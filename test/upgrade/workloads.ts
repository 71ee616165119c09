/** Jobs and models of one namespace that exist before an upgrade, and what must be the same after it. */
import { modelDeployments, trainingJobs, trainingSchedules } from '../../src/api/kinds.ts'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { keyOf } from '../../src/kube/object.ts'
import {
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  Service,
} from '../../src/kube/resources.ts'
import { modelDeployment, servingRoleOf, versions } from '../builders/model-deployment.ts'
import {
  attemptOf,
  isComplete,
  ownerOf,
  rankOf,
  roleOf,
  type SpecInput,
  trainingJob,
} from '../builders/training-job.ts'
import { trainingSchedule } from '../builders/training-schedule.ts'
import type { Decide } from '../fakes/kubelet.ts'
import { servingOutcome } from '../fakes/routers.ts'

const bucket = { checkpoint: { storage: { type: 's3', path: 's3://checkpoints/run' } } }

/** All run during the upgrades, except for `done` and `waiting`. */
const jobs: Readonly<Record<string, SpecInput>> = {
  plain: bucket,
  claimed: { hyperparameters: { learningRate: 0.001 } },
  indexed: { engine: 'job', ...bucket },
  elastic: { elastic: { minWorkers: 1, maxWorkers: 3 }, ...bucket },
  launched: {
    framework: 'mpi',
    command: ['mpirun', 'train'],
    roles: [{ name: 'launcher', replicas: 1 }] as never,
    ...bucket,
  },
  retried: bucket,
  done: bucket,
  waiting: { suspend: true, ...bucket },
}

const models = {
  canary: {
    versions: versions({ v1: 90, v2: 10 }),
    scaling: { minReplicas: 2, maxReplicas: 4 },
    traffic: { provider: 'router' },
    validation: { script: 'validate.py', timeoutSeconds: 60 },
  },
  counted: { versions: versions({ v1: 50, v2: 50 }), traffic: { provider: 'replicas' } },
  fetched: { versions: [{ name: 'v1', weight: 100, modelPath: 's3://models/fetched/v1' }] },
} as const

export const OBJECTS = Object.keys(jobs).length + Object.keys(models).length

export async function createWorkloads(client: Client, namespace: string): Promise<void> {
  for (const [name, spec] of Object.entries(jobs)) await client.create(trainingJobs, trainingJob(namespace, name, spec))
  for (const [name, spec] of Object.entries(models))
    await client.create(modelDeployments, modelDeployment(namespace, name, spec))
}

/** Objects with kinds and fields that only the new release knows. */
export async function createNewer(client: Client, namespace: string): Promise<void> {
  const stall = { timeoutSeconds: 3600, action: 'Restart' } as const
  await client.create(trainingJobs, trainingJob(namespace, 'newer', { stall, ...bucket }))
  await client.create(trainingSchedules, trainingSchedule(namespace, 'nightly'))
  const match = [{ version: 'v2', header: { name: 'x-tester', value: 'yes' } }]
  const rollout = { steps: [{ weight: 50, pauseSeconds: 60 }] } as never
  const traffic = { provider: 'router', match }
  const weights = versions({ v1: 80, v2: 20 })
  await client.create(modelDeployments, modelDeployment(namespace, 'newer', { versions: weights, traffic, rollout }))
}

/** The job `done` succeeds, the first attempt of `retried` fails, and everything else runs. With `finish`, all workers succeed. */
export function outcomes(finish = false): Decide {
  return (pod, pods) => {
    if (roleOf(pod) === '' || ownerOf(pod) === '') return servingOutcome()(pod)
    const isOf = (job: string): boolean => pod.metadata.name.startsWith(`${job}-`)
    const isFirst = isOf('retried') && attemptOf(pod) === 1
    if (isFirst) return isComplete(pod, pods, 2) && rankOf(pod) === '0' ? { exitCode: 1 } : undefined
    return finish || isOf('done') ? (isComplete(pod, pods, 2) ? { exitCode: 0 } : undefined) : undefined
  }
}

/** Whether all jobs and models have reached the state in which the upgrade finds them. */
export async function isSettled(client: Client, namespace: string): Promise<boolean> {
  const states = await jobStates(client, namespace)
  const isRunning = Object.entries(states).every(([name, { state, attempts }]) => {
    if (name === 'done') return state === 'Completed'
    if (name === 'waiting') return state === 'Suspended'
    return state === 'Running' && (name !== 'retried' || attempts === 2)
  })
  return isRunning && (await areServed(client, namespace))
}

/** All models run as the operator that leads wants them: nothing rolls. */
export async function areServed(client: Client, namespace: string): Promise<boolean> {
  const { items } = await client.list(modelDeployments, { namespace })
  const deployments = (await client.list(Deployment, { namespace })).items
  const isCurrent = items.every(
    ({ metadata, status }) => status?.phase === 'Running' && status.observedGeneration === metadata.generation,
  )
  return isCurrent && deployments.length > 0 && deployments.every(isRolledOut)
}

function isRolledOut({ metadata, spec, status = {} }: Deployment): boolean {
  const { observedGeneration, replicas, updatedReplicas, availableReplicas } = status
  const counts = [replicas, updatedReplicas, availableReplicas]
  return observedGeneration === metadata.generation && counts.every((count) => count === spec?.replicas)
}

/** What users see of the jobs of before the upgrade. */
export async function jobStates(client: Client, namespace: string) {
  const { items } = await client.list(trainingJobs, { namespace })
  const known = items.filter(({ metadata }) => metadata.name in jobs)
  return Object.fromEntries(
    known.map(({ metadata, status = {} }) => {
      const { state, attempts, failures = 0, restarts = 0, worldSize } = status
      const { uid, generation } = metadata
      return [metadata.name, { uid, generation, state, attempts, failures, restarts, worldSize }] as const
    }),
  )
}

/** The pods of jobs, by name, with what a replacement or a restart would change. */
export async function trainingPods(client: Client, namespace: string): Promise<Record<string, string>> {
  const { items } = await client.list(Pod, { namespace })
  const found = items.filter((pod) => ownerOf(pod) !== '' && servingRoleOf(pod) === undefined)
  return Object.fromEntries(found.map(({ metadata, status }) => [metadata.name, `${metadata.uid} ${status?.phase}`]))
}

const KEPT: readonly Resource[] = [
  Service,
  Deployment,
  Job,
  HorizontalPodAutoscaler,
  PodDisruptionBudget,
  PersistentVolumeClaim,
]

/** The uids of the children, by kind and name. */
export async function children(client: Client, namespace: string): Promise<Map<string, string>> {
  const lists = await Promise.all(
    KEPT.map(async (resource) => [resource, await client.list(resource, { namespace })] as const),
  )
  return new Map(
    lists.flatMap(([{ kind }, { items }]) =>
      items.map((object: KubeObject) => [`${kind}/${keyOf(object).name}`, object.metadata.uid ?? ''] as const),
    ),
  )
}
