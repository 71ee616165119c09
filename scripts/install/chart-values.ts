/** The values of the chart with the comments of its values.yaml, which is the only place that describes them. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, type Pair, parseDocument, type YAMLMap } from 'yaml'

const VALUES = join(import.meta.dirname, '..', '..', 'charts', 'ml-operator', 'values.yaml')

export interface ChartValue {
  /** `image.tag` */
  readonly path: string
  /** The comment above it; empty if it has none. */
  readonly description: string
  readonly fallback: unknown
  /** The values below it, if it is a map with entries. */
  readonly children: readonly ChartValue[]
}

export function chartValues(text = readFileSync(VALUES, 'utf8')): ChartValue[] {
  const document = parseDocument(text)
  if (!isMap(document.contents)) throw new Error('values.yaml must be a map')
  return valuesOf(document.contents, '', document.commentBefore ?? '')
}

/** The parser keeps the comment above the first entry at the map. */
function valuesOf(map: YAMLMap, above: string, first: string): ChartValue[] {
  return map.items.map((pair, index) => {
    const path = `${above}${keyOf(pair)}`
    const comment = index === 0 ? first || map.commentBefore : undefined
    const { value } = pair
    const own = isScalar(pair.key) ? pair.key.commentBefore : undefined
    return {
      path,
      description: described(comment ?? own ?? ''),
      fallback: (value as { toJSON(): unknown } | null)?.toJSON() ?? null,
      children: isMap(value) ? valuesOf(value, `${path}.`, '') : [],
    }
  })
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : String(key)
}

function described(comment: string): string {
  return comment
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ')
}
