/** One pod per replica, created by the operator. Pod names are deterministic, so no replica is created twice. */
import { toDelete } from '../../../decision/plan.ts'
import type { Pod } from '../../../kube/resources.ts'
import { variable } from '../../pod/variable.ts'
import type { PodIdentity } from '../frameworks/pod-identity.ts'
import { INDEX_LABEL, podName, ROLE_LABEL, TEMPLATE_ANNOTATION, WORKER, WORKER_LABEL } from '../names.ts'
import { membershipOf } from '../objects/pod-group.ts'
import { podTemplate, startOf, templateFingerprint } from '../objects/pod-template.ts'
import type { Attempt, Replica } from '../observe/attempt.ts'
import { type Member, memberOf, podsOf } from '../observe/member.ts'
import type { TrainingObserved } from '../observe/observed.ts'
import type { Changes, Engine } from './contract.ts'

export const pods: Engine = {
  hostname: podName,
  members,
  hasPods: (observed) => members(observed).length > 0,
  hasOtherAttempts: (observed, attempt) => members(observed).some((member) => member.attempt !== attempt),
  template: (observed, attempt, role) =>
    templateFingerprint(
      { ...identityOf(observed, attempt, { role, index: 0 }), membership: membershipOf(observed, attempt, role) },
      observed.config,
    ),
  create,
  createdReason: 'PodsCreated',
  remove: (_observed, gang) => deletionOf(gang),
  stop: (_observed, active) => deletionOf(active),
}

function members({ pods: existing }: TrainingObserved): readonly Member[] {
  return existing.map((pod) => memberOf(pod, replicaOf(pod)))
}

function replicaOf({ metadata: { labels = {} } }: Pod): Replica {
  return { role: labels[ROLE_LABEL] ?? WORKER, index: Number(labels[INDEX_LABEL] ?? 0) }
}

function deletionOf(gang: readonly Member[]): Changes {
  return { writes: [], deletions: toDelete('graceful', podsOf(gang)) }
}

function create(observed: TrainingObserved, attempt: Attempt, replicas: readonly Replica[]): Pod[] {
  const roles = [...new Set(replicas.map(({ role }) => role))]
  const templates = new Map(roles.map((role) => [role, pods.template(observed, attempt, role)]))
  const memberships = new Map(roles.map((role) => [role, membershipOf(observed, attempt, role)]))
  return replicas.map((replica) => {
    const identity = { ...identityOf(observed, attempt, replica), membership: memberships.get(replica.role) }
    return podOf(observed, identity, replica, templates.get(replica.role) ?? '')
  })
}

function identityOf({ job }: TrainingObserved, attempt: Attempt, { role, index }: Replica): PodIdentity {
  const [rank = { name: 'RANK' }] = variable('RANK', index)
  return { job, attempt, role, index: String(index), rank, hostname: podName }
}

function podOf(observed: TrainingObserved, identity: PodIdentity, replica: Replica, template: string): Pod {
  const { role, index } = replica
  const { job, config } = observed
  const { metadata, spec } = podTemplate(identity, config, startOf(observed, identity.attempt))
  const name = podName(job, role, index)
  const position = { [INDEX_LABEL]: String(index), ...(role === WORKER && { [WORKER_LABEL]: String(index) }) }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      labels: { ...metadata.labels, ...position },
      annotations: { ...metadata.annotations, [TEMPLATE_ANNOTATION]: template },
    },
    spec: { ...spec, hostname: name },
  }
}
