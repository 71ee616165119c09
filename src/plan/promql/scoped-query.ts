/**
 * Restricts a PromQL query to given labels: every vector selector gets their matchers, whatever it selects itself. Matchers on
 * the same label are all required, so a query cannot widen them.
 *
 * The parser knows the part of PromQL that figures need and refuses everything else, with the position. It decides by position
 * whether a word is an operator or the name of a series, as Prometheus does: `and` can be either.
 */
import { QueryError, type Token, tokensOf } from './tokens.ts'

export type Scope = Readonly<Record<string, string>>
export type ScopedQuery = { readonly query: string } | { readonly problem: string }

const MAX_LENGTH = 8192
const MAX_DEPTH = 32

const AGGREGATIONS = new Set([
  'avg',
  'bottomk',
  'count',
  'group',
  'max',
  'min',
  'quantile',
  'stddev',
  'stdvar',
  'sum',
  'topk',
])
/** Without those that select series by other means than a selector, and without those that change labels. */
const FUNCTIONS = new Set(
  [
    'abs absent absent_over_time avg_over_time ceil changes clamp clamp_max clamp_min count_over_time delta deriv exp floor',
    'histogram_quantile idelta increase irate last_over_time ln log10 log2 max_over_time min_over_time present_over_time',
    'quantile_over_time rate resets round scalar sqrt stddev_over_time sum_over_time time timestamp vector',
  ].flatMap((line) => line.split(' ')),
)
const SET_OPERATORS = new Set(['and', 'or', 'unless'])
const OPERATORS = new Set(['+', '-', '*', '/', '%', '^', '==', '!=', '>', '<', '>=', '<=', ...SET_OPERATORS])
const MATCHES = new Set(['=', '!=', '=~', '!~'])
const GROUPINGS = ['by', 'without']
const JOINS = ['on', 'ignoring']
const SIDES = ['group_left', 'group_right']
/** Never the name of a series here, although Prometheus allows some of them. */
const RESERVED = new Set([
  ...AGGREGATIONS,
  ...SET_OPERATORS,
  ...GROUPINGS,
  ...JOINS,
  ...SIDES,
  'bool',
  'offset',
  'inf',
  'nan',
  'atan2',
  'count_values',
])

export function scopedQuery(query: string, scope: Scope): ScopedQuery {
  if (query.length > MAX_LENGTH) return { problem: `is longer than ${MAX_LENGTH} characters` }
  try {
    return { query: new Reader(query, scope).read() }
  } catch (error) {
    if (error instanceof QueryError) return { problem: error.message }
    throw error
  }
}

const quoted = (value: string): string => `"${value.replaceAll('\\', String.raw`\\`).replaceAll('"', String.raw`\"`)}"`

class Reader {
  readonly #query: string
  readonly #tokens: readonly Token[]
  readonly #matchers: string
  /** Matchers to insert, by position. */
  readonly #insertions: (readonly [at: number, text: string])[] = []
  #next = 0

  constructor(query: string, scope: Scope) {
    this.#query = query
    this.#tokens = tokensOf(query)
    this.#matchers = Object.entries(scope)
      .map(([label, value]) => `${label}=${quoted(value)}`)
      .join(',')
  }

  read(): string {
    this.#expression(0)
    if (this.#next < this.#tokens.length) this.#refuse()
    return this.#insertions.reduceRight((text, [at, added]) => text.slice(0, at) + added + text.slice(at), this.#query)
  }

  #refuse(): never {
    const token = this.#tokens[this.#next]
    throw new QueryError(
      token ? `does not expect ${token.text.slice(0, 32)} at character ${token.start + 1}` : 'ends too early',
    )
  }

  #isNext(...texts: readonly string[]): boolean {
    const token = this.#tokens[this.#next]
    return token !== undefined && token.kind !== 'string' && texts.includes(token.text)
  }

  #accept(...texts: readonly string[]): boolean {
    if (!this.#isNext(...texts)) return false
    this.#next += 1
    return true
  }

  #expect(text: string): void {
    if (!this.#accept(text)) this.#refuse()
  }

  #take(kind: Token['kind']): Token {
    const token = this.#tokens[this.#next]
    if (token?.kind !== kind) this.#refuse()
    this.#next += 1
    return token
  }

  #expression(depth: number): void {
    if (depth > MAX_DEPTH) throw new QueryError(`is nested deeper than ${MAX_DEPTH} levels`)
    this.#operand(depth)
    while (this.#accept(...OPERATORS)) {
      this.#accept('bool')
      if (this.#accept(...JOINS)) {
        this.#labels()
        if (this.#accept(...SIDES) && this.#isNext('(')) this.#labels()
      }
      this.#operand(depth)
    }
  }

  #operand(depth: number): void {
    while (this.#accept('+', '-'));
    this.#primary(depth)
    if (this.#accept('[')) {
      this.#take('duration')
      this.#expect(']')
    }
    if (this.#accept('offset')) {
      this.#accept('-')
      this.#take('duration')
    }
  }

  #primary(depth: number): void {
    const token = this.#tokens[this.#next]
    if (token?.kind === 'number') this.#next += 1
    else if (this.#accept('(')) this.#closed(depth)
    else if (this.#isNext('{')) this.#braces()
    else this.#named(this.#take('word'), depth)
  }

  /** A function, an aggregation, or the name of a series. */
  #named(word: Token, depth: number): void {
    const name = word.text
    if (AGGREGATIONS.has(name)) return this.#aggregation(depth)
    if (this.#isNext('(') && FUNCTIONS.has(name)) return this.#arguments(depth)
    if (this.#isNext('(') || RESERVED.has(name.toLowerCase())) {
      this.#next -= 1
      this.#refuse()
    }
    if (this.#isNext('{')) this.#braces()
    else this.#insertions.push([word.end, `{${this.#matchers}}`])
  }

  #aggregation(depth: number): void {
    const isGrouped = this.#accept(...GROUPINGS)
    if (isGrouped) this.#labels()
    this.#arguments(depth)
    if (!isGrouped && this.#accept(...GROUPINGS)) this.#labels()
  }

  #arguments(depth: number): void {
    this.#expect('(')
    if (this.#accept(')')) return
    do this.#expression(depth + 1)
    while (this.#accept(','))
    this.#expect(')')
  }

  #closed(depth: number): void {
    this.#expression(depth + 1)
    this.#expect(')')
  }

  #labels(): void {
    this.#expect('(')
    while (!this.#accept(')')) {
      this.#take('word')
      if (!this.#isNext(')')) this.#expect(',')
    }
  }

  #braces(): void {
    this.#expect('{')
    const { end } = this.#tokens[this.#next - 1] ?? { end: 0 }
    this.#insertions.push([end, this.#isNext('}') ? this.#matchers : `${this.#matchers},`])
    while (!this.#accept('}')) {
      this.#take('word')
      if (!this.#accept(...MATCHES)) this.#refuse()
      this.#take('string')
      if (!this.#isNext('}')) this.#expect(',')
    }
  }
}
