/**
 * XGBoost: the code starts the tracker in rank 0 and passes `DMLC_*` to the library. For LightGBM it makes the list
 * of machines from `WORKER_ADDRS` and `WORKER_PORT`.
 */
import { type Variable, variable } from '../../pod/variable.ts'
import { WORKER } from '../names.ts'
import { procsPerWorker } from '../observe/attempt.ts'
import { DEFAULT_IMAGE, type Framework, PYTHON_SCRIPT } from './contract.ts'
import { hostsOf, masterOf, type PodIdentity, sharedText } from './pod-identity.ts'

export const xgboost: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch: { command: PYTHON_SCRIPT },
  environment,
}

function environment(pod: PodIdentity): Variable[] {
  const { job, attempt, index } = pod
  const { masterPort } = job.spec.networking
  return [
    ...variable('DMLC_TRACKER_URI', masterOf(pod)),
    ...variable('DMLC_TRACKER_PORT', masterPort),
    ...variable('DMLC_TASK_ID', index),
    ...variable('DMLC_NUM_WORKER', attempt.worldSize * procsPerWorker(job.spec)),
    ...variable(
      'WORKER_ADDRS',
      sharedText(pod, 'workers', () => hostsOf(pod, WORKER, attempt.worldSize).join(',')),
    ),
    ...variable('WORKER_PORT', masterPort),
  ]
}
