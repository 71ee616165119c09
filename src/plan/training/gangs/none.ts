/** Pods are scheduled one by one. A gang that gets only some of its nodes gives them back after `gangTimeoutSeconds`. */
import type { GangScheduler } from './contract.ts'

export const none = {
  name: 'none',
  kinds: [],
  hasQueues: false,
  placesTogether: false,
  groupOf: () => undefined,
  membershipIn: () => ({}),
} satisfies GangScheduler
