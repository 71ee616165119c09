/** XGBoost: rank 0 runs the tracker (`DMLC_*`). LightGBM finds its machines in `WORKER_ADDRS` and `WORKER_PORT`. */
import { procsPerWorker } from '../attempt.ts'
import { WORKER } from '../names.ts'
import { type Environment, hostsOf, masterOf } from './placement.ts'
import { variable } from './variable.ts'

export const xgboost: Environment = (placement) => {
  const { job, attempt, index } = placement
  const { masterPort } = job.spec.networking
  return [
    ...variable('DMLC_TRACKER_URI', masterOf(placement)),
    ...variable('DMLC_TRACKER_PORT', masterPort),
    ...variable('DMLC_TASK_ID', index),
    ...variable('DMLC_NUM_WORKER', attempt.worldSize * procsPerWorker(job.spec)),
    ...variable('WORKER_ADDRS', hostsOf(placement, WORKER, attempt.worldSize).join(',')),
    ...variable('WORKER_PORT', masterPort),
  ]
}
