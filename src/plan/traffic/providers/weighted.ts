/** What providers share whose own objects have the weights. */
import type { Situation, TrafficProvider } from '../contract.ts'
import { isSameSplit, sum, type Weights } from '../weights.ts'

export const weighted: Pick<TrafficProvider, 'canCarry' | 'canTakeOver' | 'isSettled' | 'isRunning' | 'reported'> = {
  canCarry: (_, { inEffect }) => inEffect !== undefined && sum(inEffect) > 0,
  canTakeOver: isInEffect,
  isSettled: isInEffect,
  isRunning: () => true,
  reported: (weights, { target }) => weights ?? target.recorded,
}

function isInEffect(weights: Weights, { inEffect }: Situation): boolean {
  return inEffect !== undefined && isSameSplit(inEffect, weights)
}
