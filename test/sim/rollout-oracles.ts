/** What must hold of rollouts after every write: S3 and S6, and which versions are needed. */
import assert from 'node:assert/strict'
import { RETRY_ANNOTATION } from '../../src/api/serving-rollout.ts'
import type { Deployment } from '../../src/kube/resources.ts'
import { VERSION_LABEL } from '../../src/plan/model-names.ts'
import { TEMPLATE_ANNOTATION } from '../../src/plan/serving/objects/deployment.ts'
import { has, isBack, isHeld, isRecreated, type Model, revisionOf } from './rollout-record.ts'
import { checkSwitch, isPreview } from './switch-oracles.ts'
import type { ServingCluster, Write } from './serving-cluster.ts'

const isInSpec = ({ spec }: Model, name: string): boolean =>
  !spec.rollbackTo && spec.versions.some((version) => version.name === name)

/** By the record: it is on the way, or to go back to. */
function isOnRecord(model: Model, name: string): boolean {
  const { phase, revision, stableRevision } = model.status?.rollout ?? {}
  const [own, good] = [revisionOf(model, revision)?.weights, revisionOf(model, stableRevision)?.weights]
  if (isBack(model)) return has(good, name)
  return has(own, name) || (phase !== 'Completed' && (!isRecreated(model) || isHeld(model)) && has(good, name, 1))
}

/** It must not be deleted. A record of an earlier spec does not protect what the spec no longer has. */
export function isNeeded(model: Model, name: string): boolean {
  const { status, spec, metadata } = model
  if (!status?.rollout || !spec.rollout) return isInSpec(model, name)
  const isRetried = metadata.annotations?.[RETRY_ANNOTATION] === String(status.rollout.revision)
  const isCurrent = status.observedGeneration === metadata.generation && !isRetried
  return isOnRecord(model, name) && (isCurrent || isInSpec(model, name))
}

/** A version to go back to has the number of pods of its revision, whatever the spec says about others. */
export const isRestored = ({ spec, status }: Model, name: string | undefined): boolean =>
  status?.rollout !== undefined && !spec.versions.some((version) => version.name === name)

/** It may still be managed. */
export const mayBeNeeded = (model: Model, name: string): boolean =>
  model.spec.versions.some((version) => version.name === name) || isOnRecord(model, name)

function wasStable(status: Model['status'], name: string): boolean {
  const { history = [], rollout } = status ?? {}
  return has(history.find(({ revision }) => revision === rollout?.stableRevision)?.weights, name, 1)
}

const templateOf = ({ spec }: Deployment): string => JSON.stringify(spec?.template)

/** Its new template is written after the record of how its pods are replaced. */
function isHeldBack({ status }: Model, { metadata }: Deployment): boolean {
  const version = metadata.labels?.[VERSION_LABEL]
  const { rollingUpdate } = status?.activeVersions?.find(({ name }) => name === version) ?? {}
  return rollingUpdate !== undefined && rollingUpdate.template !== metadata.annotations?.[TEMPLATE_ANNOTATION]
}

export class RolloutOracles {
  /** Weights of the last route that was written. */
  #written: ReadonlyMap<string, number> = new Map()
  /** Pod templates by version, while a revision was completed and nothing else was asked for. */
  readonly #templates = new Map<number, ReadonlyMap<string, string>>()

  /** S3: on the way back a version without a share in what was good never gets more traffic. */
  route({ model }: ServingCluster, shares: ReadonlyMap<string, number>): void {
    const { rollout } = model.status ?? {}
    // Before a switch, old versions may take over from each other.
    const isChecked = (name: string): boolean =>
      isPreview(model) ? (rollout?.candidate?.split(', ').includes(name) ?? false) : isBack(model)
    if (model.spec.rollout)
      for (const [name, weight] of [...shares].filter(([one]) => isChecked(one)))
        assert.ok(
          has(rollout?.weights, name, 1) || weight <= (this.#written.get(name) ?? 0),
          `S3: ${name} failed, or is not switched to yet, and gets ${weight} instead of ${this.#written.get(name) ?? 0}`,
        )
    this.#written = shares
  }

  check(cluster: ServingCluster, write: Write): void {
    const { model } = cluster
    if (write.verb === 'apply' && write.object.kind === 'Deployment') this.#kept(cluster, write.object)
    if (write.verb === 'status') this.#recorded(cluster)
    checkSwitch(cluster, write)
    const { phase, revision = 0 } = model.status?.rollout ?? {}
    if (phase !== 'Completed' || model.status?.observedGeneration !== model.metadata.generation) return
    // A version that is being validated does not have the template of its revision yet.
    if (model.spec.validation) return
    // One that was to go back to until now may get its template with the next pass.
    const isLate = (name: string): boolean =>
      write.verb === 'status' && write.before?.rollout?.phase !== 'Completed' && wasStable(write.before, name)
    const current = [...cluster.servers].filter(([name, server]) => !isLate(name) && !isHeldBack(cluster.model, server))
    const templates = current.map(([name, server]) => [name, templateOf(server)] as const)
    this.#templates.set(revision, new Map([...(this.#templates.get(revision) ?? []), ...templates]))
  }

  /** S6: what a rollout may go back to keeps its pod template. */
  #kept({ model }: ServingCluster, deployment: Deployment): void {
    const { rollout, observedGeneration } = model.status ?? {}
    if (!rollout || !model.spec.rollout || rollout.phase === 'Completed') return
    if (observedGeneration !== model.metadata.generation) return
    this.#isSame(model, deployment)
  }

  #recorded({ model, servers }: ServingCluster): void {
    const { rollout } = model.status ?? {}
    if (!rollout) return
    const sum = rollout.weights.reduce((all, { weight }) => all + weight, 0)
    assert.equal(sum, 100, 'S1: the weights of a step sum to 100')
    assert.ok((model.status?.history?.length ?? 0) <= 12, 'S6: the history is bounded')
    if (rollout.phase === 'Completed') return
    assert.ok(revisionOf(model, rollout.stableRevision)?.template, 'S6: what to go back to can be restored')
    for (const server of servers.values()) this.#isSame(model, server)
  }

  #isSame(model: Model, server: Deployment): void {
    const { stableRevision } = model.status?.rollout ?? {}
    const name = server.metadata.labels?.[VERSION_LABEL] ?? ''
    const template = this.#templates.get(stableRevision ?? 0)?.get(name)
    if (template === undefined || !has(revisionOf(model, stableRevision)?.weights, name, 1)) return
    assert.ok(templateOf(server) === template, `S6: ${name} of revision ${stableRevision} has another template`)
  }
}
