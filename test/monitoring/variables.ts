/** A query of a dashboard with values for the variables of Grafana. */
export function withValues(expr: string, { range = '1h', rate = '5m' } = {}): string {
  return expr.replaceAll('$namespace', '.*').replaceAll('$__range', range).replaceAll('$__rate_interval', rate)
}
