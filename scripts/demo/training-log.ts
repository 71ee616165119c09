/** Parses the trainer's log: one JSON object per line, among other output of libraries. */

export interface Epoch {
  readonly epoch: number
  readonly epochs: number
  readonly loss: number
  readonly accuracy: number
}

export interface TrainingLog {
  readonly latest?: Epoch
  /** The epoch whose checkpoint this attempt began with. */
  readonly resumedFrom?: number
}

export function trainingLog(text: string): TrainingLog {
  const facts = text.split('\n').flatMap(parsed)
  const latest = facts.findLast(({ event }) => event === 'epoch') as Epoch | undefined
  const resumed = facts.find(({ event }) => event === 'resumed') as { readonly epoch: number } | undefined
  return { ...(latest && { latest }), ...(resumed && { resumedFrom: resumed.epoch }) }
}

function parsed(line: string): { readonly event?: unknown }[] {
  if (!line.startsWith('{')) return []
  try {
    return [JSON.parse(line) as { event?: unknown }]
  } catch {
    return [] // truncated line
  }
}
