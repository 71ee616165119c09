/** What a route has beside weights, as the spec wants it. */
import type { RouteRules } from '../../api/router-report.ts'
import type { Traffic } from '../../api/serving-traffic.ts'
import type { RuleKind } from './contract.ts'

type WithRules = Pick<Traffic, 'mirror' | 'match' | 'stickiness'>

/** The kinds of rules that a provider must have for this spec. */
export function neededRules({ mirror, match = [], stickiness }: WithRules): RuleKind[] {
  return [
    ...(mirror ? (['mirror'] as const) : []),
    ...(match.some(({ header }) => header) ? (['headers'] as const) : []),
    ...(match.some(({ cookie }) => cookie) ? (['cookies'] as const) : []),
    ...(stickiness ? (['stickiness'] as const) : []),
  ]
}

/** Without rules for versions that cannot take requests: their requests would fail. */
export function usableRules({ mirror, match, stickiness }: WithRules, usable: ReadonlySet<string>): RouteRules {
  const matches = (match ?? []).filter(({ version }) => usable.has(version))
  return {
    ...(mirror && usable.has(mirror.version) && { mirror }),
    ...(matches.length > 0 && { match: matches }),
    ...(stickiness && { stickiness }),
  }
}
