/** Grafana dashboards from lists of panels. */

export interface Panel {
  readonly title: string
  readonly type: 'timeseries' | 'piechart' | 'gauge' | 'bargauge' | 'stat' | 'histogram'
  readonly queries: readonly Query[]
  readonly unit?: string
  readonly description?: string
  /** Of 24 columns; by default 8. */
  readonly width?: number
}

export interface Query {
  readonly expr: string
  readonly legend?: string
  /** Shows the buckets of a histogram, or only the latest value. */
  readonly as?: 'heatmap' | 'latest'
}

export interface Dashboard {
  /** Of the file and the ConfigMap; also the uid, so it must not change. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** A metric with a label `namespace`, for the choice of namespaces. */
  readonly namespacesOf?: string
  readonly panels: readonly Panel[]
}

const COLUMNS = 24
const WIDTH = 8
const HEIGHT = 8
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

export function dashboardJson({ name, title, description, namespacesOf, panels }: Dashboard): string {
  const dashboard = {
    uid: name,
    title,
    description,
    tags: ['ml-operator'],
    editable: true,
    schemaVersion: 39,
    version: 1,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: variables(namespacesOf) },
    panels: placed(panels),
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

function variables(namespacesOf: string | undefined): object[] {
  const datasource = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }
  if (namespacesOf === undefined) return [datasource]
  const query = `label_values(${namespacesOf}, namespace)`
  const choice = { includeAll: true, allValue: '.*', multi: true, refresh: 2, sort: 1 }
  const namespace = { name: 'namespace', label: 'Namespace', type: 'query', datasource: DATASOURCE, query, ...choice }
  return [datasource, namespace]
}

/** From left to right, then down. */
function placed(panels: readonly Panel[]): object[] {
  let x = 0
  let y = 0
  return panels.map((panel, index) => {
    const { width = WIDTH } = panel
    if (x + width > COLUMNS) [x, y] = [0, y + HEIGHT]
    const gridPos = { x, y, w: width, h: HEIGHT }
    x += width
    return { id: index + 1, gridPos, ...panelJson(panel) }
  })
}

function panelJson({ title, type, queries, unit = 'short', description = '' }: Panel): object {
  return {
    title,
    type,
    description,
    datasource: DATASOURCE,
    fieldConfig: { defaults: { unit, ...(unit.startsWith('percent') && { min: 0 }) }, overrides: [] },
    options: type === 'timeseries' ? { legend: { displayMode: 'list', placement: 'bottom' } } : {},
    targets: queries.map(({ expr, legend, as }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      ...(legend !== undefined && { legendFormat: legend }),
      ...(as === 'heatmap' && { format: 'heatmap', instant: true }),
      ...(as === 'latest' && { instant: true }),
    })),
  }
}
