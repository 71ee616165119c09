/** A failure, and how to reproduce it. */
export interface Finding {
  /** `violation`: an error that the target does not declare. */
  readonly kind: 'exit' | 'stall' | 'violation'
  readonly target: string
  readonly index: number
  readonly message: string
  /** The beginning of the input. */
  readonly input: string
}

export interface Progress {
  readonly done: number
  readonly findings: readonly Finding[]
}
