/** What must hold of strategies that move all traffic at once. */
import assert from 'node:assert/strict'
import type { RolloutStatus } from '../../src/api/rollout-status.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import type { Deployment } from '../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../src/plan/model-names.ts'
import { has, isBack, isHeld, isRecreated, type Model, revisionOf } from './rollout-record.ts'
import type { ServingCluster, Write } from './serving-cluster.ts'

type Servers = ReadonlyMap<string, Deployment>

const isAvailable = ({ metadata, status }: Deployment): boolean =>
  metadata.deletionTimestamp === undefined && (status?.availableReplicas ?? 0) > 0

/** Only `recreate` removes a version that requests reach: before another starts, and on the way back. */
export function isRemovedFirst(model: Model, servers: Servers): boolean {
  const { phase, revision, stableRevision, stepWeight } = model.status?.rollout ?? {}
  const isRemoving = stepWeight === 0 && !isHeld(model) && phase !== 'Completed'
  if (!isRecreated(model) || !(isBack(model) || isRemoving)) return false
  const staying = revisionOf(model, isBack(model) ? stableRevision : revision)?.weights
  return ![...servers].some(([name, server]) => has(staying, name) && isAvailable(server))
}

/** New versions run beside the old ones, and get no traffic yet. */
export function isPreview(model: Model): boolean {
  const { rollout, observedGeneration } = model.status ?? {}
  const isChosen = model.spec.rollout?.strategy === 'blueGreen' && rollout?.strategy === 'blueGreen'
  const isCurrent = observedGeneration === model.metadata.generation
  return isChosen && isCurrent && rollout.stepWeight === 0 && !isBack(model)
}

/** S8: all traffic moves at once only to versions with all pods, or after the old ones are gone. */
export function checkSwitch(cluster: ServingCluster, write: Write): void {
  if (write.verb === 'apply' && !write.before) isStarted(cluster, write.object)
  if (write.verb !== 'status' || !write.before?.rollout) return
  const { model } = cluster
  const was = write.before.rollout
  if (!isSwitched(was, model.status?.rollout) || isBack(model) || FAILED.includes(was.reason)) return
  const own = revisionOf(model, was.revision)?.weights
  for (const [name, server] of cluster.servers) isReplaced(was, name, { server, isOwn: has(own, name) })
}

interface Served {
  readonly server: Deployment
  /** Of the revision that is switched to. */
  readonly isOwn: boolean
}

function isReplaced({ strategy, candidate }: RolloutStatus, name: string, { server, isOwn }: Served): void {
  if (strategy === 'recreate') assert.ok(isOwn, `S8: ${name} is still there`)
  else if (candidate?.split(', ').includes(name)) isComplete(name, server)
}

/** A person may promote what has failed. */
const FAILED: readonly (string | undefined)[] = ['ProgressDeadlineExceeded', 'AnalysisFailed', 'NotReady']

const isSwitched = (was: RolloutStatus, is: RolloutStatus | undefined): boolean =>
  was.revision === is?.revision && was.strategy === is.strategy && was.stepWeight === 0 && is.stepWeight === 100

function isComplete(name: string, { spec, status }: Deployment): void {
  assert.equal(status?.availableReplicas, spec?.replicas ?? 1, `S8: ${name} is switched to without all its pods`)
}

function isStarted({ model }: ServingCluster, { kind, metadata }: KubeObject): void {
  const { rollout, observedGeneration } = model.status ?? {}
  if (kind !== 'Deployment' || metadata.labels?.[VERSION_LABEL] === undefined || isBack(model)) return
  if (!isRecreated(model) || isHeld(model) || observedGeneration !== model.metadata.generation) return
  assert.notEqual(rollout?.stepWeight, 0, `S8: ${metadata.name} starts before the old versions are gone`)
}

/** S4: the preview Service stays until the switch, and that of the model always. */
export function checkService({ model }: ServingCluster, name: string): void {
  assert.ok(name.endsWith('-preview'), 'S4: the Service of the model stays')
  assert.ok(!isPreview(model), 'S4: the preview Service stays until the switch')
}
