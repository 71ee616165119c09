/** Random choices with methods; the same for the same seed. */
import { type Random, seeded } from './seeded.ts'

export class Dice {
  /** At least 0, less than 1. */
  readonly next: Random

  constructor(seed: number) {
    this.next = seeded(seed)
  }

  /** A whole number below `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  of<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  }

  /** True with this probability. */
  is(share: number): boolean {
    return this.next() < share
  }
}

/** One seed of two numbers, so that inputs of neighbouring indices have nothing in common. */
export function mixed(seed: number, index: number): number {
  return new Dice(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)).below(2 ** 32)
}
