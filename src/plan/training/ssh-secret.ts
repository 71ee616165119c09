/** The keys of an MPI job. Written once, never read by us: the operator has the right to create Secrets, and no other. */
import type { TrainingJob } from '../../api/trainingjob.v1.ts'
import type { KubeObject } from '../../kube/object.ts'
import { jobLabels, keysName } from './names.ts'
import type { SshKeys } from './observed.ts'

interface Secret extends KubeObject {
  readonly type: string
  readonly immutable: true
  readonly stringData: Readonly<Record<string, string>>
}

export function sshSecret(job: TrainingJob, keys: SshKeys): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: keysName(job), labels: jobLabels(job) },
    type: 'kubernetes.io/ssh-auth',
    immutable: true,
    stringData: { 'ssh-privatekey': keys.privateKey, 'ssh-publickey': keys.publicKey },
  }
}
