/** The words of a PromQL query. What is not listed here is refused: comments, subqueries, the modifier `@`. */

export interface Token {
  readonly kind: 'string' | 'number' | 'duration' | 'word' | 'sign'
  readonly text: string
  /** Position of its first character, and of the one after its last. */
  readonly start: number
  readonly end: number
}

/** The signal that a query is not understood. */
export class QueryError extends Error {
  override readonly name = 'QueryError'
}

const PATTERN = new RegExp(
  [
    String.raw`(?<space>[ \t\r\n]+)`,
    String.raw`(?<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*'|` + '`[^`]*`)',
    String.raw`(?<duration>(?:\d+(?:ms|[smhdwy]))+)(?![\w.])`,
    String.raw`(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])`,
    String.raw`(?<word>[a-zA-Z_][a-zA-Z0-9_:]*)`,
    String.raw`(?<sign>=~|!~|==|!=|>=|<=|[-+*\/%^><=(){}\[\],])`,
  ].join('|'),
  'y',
)

export function tokensOf(query: string): readonly Token[] {
  const tokens: Token[] = []
  PATTERN.lastIndex = 0
  while (PATTERN.lastIndex < query.length) {
    const start = PATTERN.lastIndex
    const groups = PATTERN.exec(query)?.groups
    if (!groups)
      throw new QueryError(`cannot read ${JSON.stringify(query.slice(start, start + 16))} at character ${start + 1}`)
    const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) ?? ['space', ' ']
    const end = start + text.length
    if (kind !== 'space') tokens.push({ kind: kind as Token['kind'], text, start, end })
    PATTERN.lastIndex = end
  }
  return tokens
}
