/** A planted bug as data: one edit of one source file, and the oracle run that has to fail because of it. */
import type { Oracle } from './oracles.ts'

export const AREAS = [
  'kube',
  'net',
  'runtime',
  'api',
  'training',
  'schedule',
  'serving',
  'traffic',
  'reconcile',
  'integrations',
  'agent',
  'webhooks',
  'command',
] as const

export type Area = (typeof AREAS)[number]

export interface Edit {
  /** Path of the source file, relative to the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly from: string
  readonly to: string
}

export interface Mutant extends Edit {
  /** Unique and stable, such as `runtime/commit-status-before-children`. */
  readonly id: string
  /** The bug, in one sentence. */
  readonly what: string
  readonly caughtBy: Oracle
}

export const areaOf = ({ id }: Pick<Mutant, 'id'>): Area => id.slice(0, id.indexOf('/')) as Area

/** The source with the bug. Throws unless the edit matches exactly once. */
export function mutated(source: string, { file, from, to }: Edit): string {
  const places = source.split(from).length - 1
  if (places !== 1) throw new Error(`${file} contains ${JSON.stringify(from)} ${places} times instead of once`)
  return source.replace(from, () => to)
}
