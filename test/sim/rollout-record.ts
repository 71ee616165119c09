/** What the record of a rollout says, for oracles. */
import type { ModelDeployment } from '../../src/api/modeldeployment.v1.ts'
import type { Revision, Shares } from '../../src/api/rollout-status.ts'

export type Model = Pick<ModelDeployment, 'metadata' | 'spec' | 'status'>

export const has = (shares: Shares | undefined, name: string, least = 0): boolean =>
  shares?.some((share) => share.name === name && share.weight >= least) ?? false

export const revisionOf = ({ status }: Model, number: number | undefined): Revision | undefined =>
  status?.history?.find(({ revision }) => revision === number)

export const isBack = ({ status }: Model): boolean =>
  status?.rollout?.phase === 'RolledBack' || status?.rollout?.phase === 'Aborted'

/** Paused before the old versions are removed. */
export const isHeld = ({ spec, status }: Model): boolean => spec.paused === true && status?.rollout?.stepWeight === 0

/** On record and in the spec. */
export const isRecreated = ({ spec, status }: Model): boolean =>
  spec.rollout?.strategy === 'recreate' && status?.rollout?.strategy === 'recreate'
