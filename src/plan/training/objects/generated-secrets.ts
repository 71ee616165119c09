/**
 * Secrets with random data that a framework needs. They are created once and never read: the operator may create Secrets,
 * and nothing else.
 */
import type { TrainingJob } from '../../../api/trainingjob.v1.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { SecretData, SecretGenerator } from '../frameworks/contract.ts'
import { frameworkOf } from '../frameworks/registry.ts'
import { objectLabels } from '../names.ts'

interface Secret extends KubeObject {
  readonly type: string
  readonly immutable: true
  readonly stringData: SecretData
}

export type GeneratedData = Readonly<Partial<Record<SecretGenerator, SecretData>>>

/** What gather generates in this pass. It does so in every pass until the job has started; only the first is stored. */
export function secretsToGenerate({ spec, status }: TrainingJob): readonly SecretGenerator[] {
  if (status?.startTime !== undefined) return []
  return (frameworkOf(spec).secrets ?? []).map(({ generator }) => generator)
}

export function generatedSecrets(job: TrainingJob, generated: GeneratedData = {}): Secret[] {
  return (frameworkOf(job.spec).secrets ?? []).flatMap(({ generator, name, type }) => {
    const stringData = generated[generator]
    if (!stringData) return []
    const metadata = { name: name(job), labels: objectLabels(job, 'credentials') }
    return [{ apiVersion: 'v1', kind: 'Secret', metadata, type, immutable: true as const, stringData }]
  })
}
