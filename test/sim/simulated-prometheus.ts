/** A Prometheus that has counted ten requests per second, split by the weights in the status. Answers the questions of the planner. */
import type { Measured, ServingObserved } from '../../src/plan/serving/index.ts'
import { questionsOf } from '../../src/plan/serving/index.ts'

export interface Counted {
  /** Percent of the requests. */
  readonly errors?: number
  readonly latencyMs?: number
  /** Absent: there are no histograms. */
  readonly latencyP99Ms?: number
  /** Of queries of users, by name. */
  readonly metrics?: Readonly<Record<string, number>>
}

const PER_SECOND = 10
const WELL = { errors: 0, latencyMs: 10, latencyP99Ms: undefined, metrics: undefined }

export class SimulatedPrometheus {
  readonly versions = new Map<string, Counted>()
  problem: string | undefined
  /** It has not answered yet. */
  isSilent = false
  /** Ids of all questions so far. */
  readonly asked = new Set<string>()

  measured(observed: ServingObserved): Measured {
    const questions = questionsOf(observed, { labels: {}, rateSeconds: 60, namespaceLabel: 'namespace' })
    const rest = { isAsked: questions !== undefined, pollMs: 30_000, rateSeconds: 60 }
    if (!questions || this.isSilent) return rest
    for (const { id } of questions.list) this.asked.add(id)
    const { now: at } = observed
    if (this.problem !== undefined) return { ...rest, answers: { at, values: new Map(), problem: this.problem } }
    const values = questions.list.flatMap(({ id, query }) => {
      const value = this.#valueOf(id, Number(/\[(\d+)s\]/.exec(query)?.[1]), observed)
      return value === undefined ? [] : [[id, value] as const]
    })
    return { ...rest, answers: { at, values: new Map(values) } }
  }

  #valueOf(id: string, seconds: number, { model }: ServingObserved): number | undefined {
    const [purpose, version = '', figure = ''] = id.split('/')
    const { metrics, errors, latencyMs, latencyP99Ms } = { ...WELL, ...this.versions.get(version) }
    if (purpose === 'metric') return metrics?.[figure]
    const weight = model.status?.activeVersions?.find(({ name }) => name === version)?.weight ?? 0
    const requests = (PER_SECOND * seconds * weight) / 100
    if (requests === 0) return figure === 'requests' ? 0 : undefined
    const failed = errors === 0 ? undefined : (requests * errors) / 100
    return new Map([
      ['requests', requests],
      ['errors', failed],
      ['latencyMs', requests * latencyMs],
      ['latencyP99Ms', latencyP99Ms],
    ]).get(figure)
  }
}
