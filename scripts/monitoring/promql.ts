/** Which metrics and labels a PromQL query names. Enough for our own queries; promtool checks their syntax. */

export interface Named {
  readonly metric: string
  /** Labels in the braces behind it. */
  readonly labels: readonly string[]
}

export interface QueryNames {
  readonly metrics: readonly Named[]
  /** Labels of `by`, `on` and other groupings. */
  readonly grouping: readonly string[]
}

const KEYWORDS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'on', 'without', 'ignoring'])
const STRING = /"(?:[^"\\]|\\.)*"/g
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const SELECTOR = /(?<![\w$:.])([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?(?!\s*\()(?![\w:])/g

export function namesIn(query: string): QueryNames {
  const grouping: string[] = []
  const rest = query
    .replaceAll(STRING, '""')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\boffset\s+\w+/g, '')
    .replaceAll(GROUPING, (_, list: string) => {
      grouping.push(...split(list))
      return ' '
    })
  const metrics = [...rest.matchAll(SELECTOR)]
    .filter(([, name = '']) => !KEYWORDS.has(name))
    .map(([, metric = '', matchers = '']) => ({ metric, labels: split(matchers).map(labelOf) }))
  return { metrics, grouping }
}

const split = (list: string): string[] =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const labelOf = (matcher: string): string => /^\w+/.exec(matcher)?.[0] ?? matcher
