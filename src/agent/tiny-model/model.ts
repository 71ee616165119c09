/** A line through points, y = slope · x + intercept: the smallest model that is trained, stored, served and checked. */

export interface Line {
  readonly slope: number
  readonly intercept: number
}

export type Point = readonly [x: number, y: number]

export const MODEL_FILE = 'model.json'

const LEARNING_RATE = 0.05

/** Gradient descent on the mean squared error. */
export function fitLine(points: readonly Point[], epochs: number): Line {
  let line: Line = { slope: 0, intercept: 0 }
  for (let epoch = 0; epoch < epochs; epoch += 1) line = descend(line, points)
  return line
}

function descend({ slope, intercept }: Line, points: readonly Point[]): Line {
  const errors = points.map(([x, y]) => ({ x, error: slope * x + intercept - y }))
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    slope: slope - LEARNING_RATE * 2 * mean(errors.map(({ x, error }) => x * error)),
    intercept: intercept - LEARNING_RATE * 2 * mean(errors.map(({ error }) => error)),
  }
}

export const predict = ({ slope, intercept }: Line, x: number): number => slope * x + intercept

export function parseLine(text: string): Line {
  const { slope, intercept } = JSON.parse(text) as Record<string, unknown>
  if (typeof slope !== 'number' || typeof intercept !== 'number')
    throw new Error('a model must have a slope and an intercept')
  return { slope, intercept }
}
