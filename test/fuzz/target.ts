/** A parser or port that reads untrusted bytes. */
export interface Target {
  readonly name: string
  /** Inputs per thousand. */
  readonly share: number
  /** A higher limit on the CPU time of one callback, where a stall is harmless. */
  readonly stallMs?: number
  /** Valid inputs to start from. */
  readonly seeds: readonly string[]
  /** Inputs are truncated to this. */
  readonly maxBytes?: number
  start(): Promise<Subject>
}

export interface Subject {
  /** Processes an input. Rejects only if the target violates its contract. */
  take(input: Buffer): unknown
  stop?(): Promise<void>
}

type ErrorClass = abstract new (...args: never[]) => Error

/** A subject that either returns or throws one of its declared errors; anything else is a violation. */
export function parser(parse: (input: Buffer) => unknown, ...declared: readonly ErrorClass[]): () => Promise<Subject> {
  return () => Promise.resolve({ take: (input: Buffer) => outcome(() => parse(input), declared) })
}

export function outcome(parse: () => unknown, declared: readonly ErrorClass[]): unknown {
  const judge = (error: unknown): undefined => {
    if (!declared.some((known) => error instanceof known && isExactly(error, known))) throw error
  }
  try {
    const result = parse()
    return result instanceof Promise ? result.catch(judge) : result
  } catch (error) {
    return judge(error)
  }
}

/** A bare `Error` in the list does not allow a TypeError. */
function isExactly(error: unknown, known: ErrorClass): boolean {
  return known !== Error || (error instanceof Error && error.constructor === Error)
}
