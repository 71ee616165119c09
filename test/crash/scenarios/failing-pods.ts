/** Ten jobs whose workers fail ten times each and are deleted now and then. Every failure counts exactly once, a deletion never. */
import { trainingJobs } from '../../../src/api/kinds.ts'
import { isNotFound } from '../../../src/kube/errors.ts'
import { keyOf } from '../../../src/kube/object.ts'
import { ConfigMap, Job, PersistentVolumeClaim, Pod, Service } from '../../../src/kube/resources.ts'
import { between, seeded } from '../../random/seeded.ts'
import { attemptOf, trainingJob } from '../../builders/training-job.ts'
import { CRASHES, type Fault } from '../faults/fault.ts'
import type { Plans } from '../campaign/plans.ts'
import type { Scenario, ScenarioContext } from './scenario.ts'
import { trainingOracles } from '../oracles/training-oracles.ts'

const JOBS = 10
const FAILURES = 10

/** Attempts whose pod is deleted while it runs. Never two in a row: from the third lost pod in a row, a loss may be counted. */
const isDeleted = (attempt: number): boolean => attempt % 7 === 3

export const failingPods: Scenario = {
  name: `${JOBS * FAILURES} failing pods`,
  primary: trainingJobs,
  kinds: [Pod, Service, ConfigMap, PersistentVolumeClaim, Job],
  oracles: trainingOracles,
  run: async (context) => {
    context.kubelet.decide((pod) => (isDeleted(attemptOf(pod)) ? undefined : { exitCode: 1 }))
    const { namespace, client } = context
    for (let index = 0; index < JOBS; index += 1)
      await client.create(
        trainingJobs,
        trainingJob(namespace, `job-${index}`, { numWorkers: 1, backoffLimit: FAILURES - 1 }),
      )
    for (let counted = 0; ; counted = countedBy(context)) {
      const next = await context.until('another failure, a pod to delete, or the end', () => {
        return endOf(context) ?? podToDelete(context) ?? (countedBy(context) > counted ? 'another failure' : undefined)
      })
      if (next === 'another failure') continue
      if ('failures' in next) return checkCounts(next.failures)
      await deletePod(context, next)
    }
  },
}

/** The failures that each job has counted, once all jobs have failed. */
function endOf({ cluster }: ScenarioContext): { readonly failures: readonly number[] } | undefined {
  const jobs = cluster.list(trainingJobs)
  const isOver = jobs.length === JOBS && jobs.every(({ status }) => status?.state === 'Failed')
  return isOver ? { failures: jobs.map(({ status }) => status?.failures ?? 0) } : undefined
}

function countedBy({ cluster }: ScenarioContext): number {
  return cluster.list(trainingJobs).reduce((sum, { status }) => sum + (status?.failures ?? 0), 0)
}

function podToDelete({ cluster }: ScenarioContext): Pod | undefined {
  return cluster
    .list(Pod)
    .filter(({ status, metadata }) => status?.phase === 'Running' && metadata.deletionTimestamp === undefined)
    .find((pod) => isDeleted(attemptOf(pod)))
}

async function deletePod({ client, until, cluster }: ScenarioContext, pod: Pod): Promise<void> {
  const { uid = '' } = pod.metadata
  await client.delete(Pod, keyOf(pod), { uid }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
  await until('the deletion to be observed', () => {
    const left = cluster.list(Pod).find(({ metadata }) => metadata.uid === uid)
    return left === undefined || left.metadata.deletionTimestamp !== undefined
  })
}

function checkCounts(failures: readonly number[]): void {
  if (failures.some((count) => count !== FAILURES))
    throw new Error(`T4: ${failures.join(', ')} failures are counted, ${FAILURES} pods of each job failed`)
}

const CRASHES_PER_PLAN = 20

/** Plans with many crashes each, at random writes, the same for the same seed. */
export function manyCrashes(count: number, seed: number): Plans {
  return (writes) => {
    const random = seeded(seed)
    const fault = (): Fault => ({
      write: between(random, 1, writes.length),
      mode: CRASHES[between(random, 0, CRASHES.length - 1)] ?? 'unsent',
    })
    return Array.from({ length: count }, () => ({ faults: Array.from({ length: CRASHES_PER_PLAN }, fault) }))
  }
}
