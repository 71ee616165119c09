import type { Exclusive } from '../runtime/index.ts'

/** Fields of a Job that a queue such as Kueue may change: it resumes the Job and chooses the nodes of its pods. */
export const QUEUED: Exclusive = { except: ['spec.suspend', 'spec.template'] }
