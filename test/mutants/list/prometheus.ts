import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const rollouts = contract('src/plan/serving/rollout/prometheus.test.ts')
const questions = contract('src/plan/serving/measure/questions.test.ts')
const scoped = contract('src/plan/promql/scoped-query.test.ts')
const answers = contract('src/integrations/prometheus/query-answer.test.ts')
const reader = contract('src/integrations/prometheus/metric-reader.test.ts')

export const prometheusMutants: readonly Mutant[] = [
  {
    id: 'serving/prometheus-selector-unrestricted',
    file: 'src/plan/promql/scoped-query.ts',
    what: 'A selector without braces reads the series of all namespaces.',
    from: 'else this.#insertions.push([word.end, `{${this.#matchers}}`])',
    to: '',
    caughtBy: scoped,
  },
  {
    id: 'serving/prometheus-reserved-word-is-series',
    file: 'src/plan/promql/scoped-query.ts',
    what: 'A word that Prometheus takes for an operator or a number is taken for a series.',
    from: "this.#isNext('(') || RESERVED.has(name.toLowerCase())",
    to: "this.#isNext('(')",
    caughtBy: scoped,
  },
  {
    id: 'serving/prometheus-any-function',
    file: 'src/plan/promql/scoped-query.ts',
    what: 'Functions that select series by themselves are allowed.',
    from: "if (this.#isNext('(') && FUNCTIONS.has(name))",
    to: "if (this.#isNext('('))",
    caughtBy: scoped,
  },
  {
    id: 'serving/prometheus-rest-ignored',
    file: 'src/plan/promql/scoped-query.ts',
    what: 'What follows an expression is not read.',
    from: 'if (this.#next < this.#tokens.length) this.#refuse()',
    to: '',
    caughtBy: scoped,
  },
  {
    id: 'integrations/prometheus-nan-is-zero',
    file: 'src/integrations/prometheus/query-answer.ts',
    what: 'NaN counts as a value.',
    from: 'return undefined\n  const number',
    to: 'return 0\n  const number',
    caughtBy: answers,
  },
  {
    id: 'integrations/prometheus-first-of-many',
    file: 'src/integrations/prometheus/query-answer.ts',
    what: 'Of several series the first one is believed.',
    from: 'if (result.length > 1)',
    to: 'if (result.length > 1_000_000)',
    caughtBy: answers,
  },
  {
    id: 'integrations/prometheus-answer-unbounded',
    file: 'src/integrations/prometheus/prometheus-client.ts',
    what: 'An answer without end fills the memory of the operator.',
    from: 'if (length > MAX_ANSWER)',
    to: 'if (length < 0)',
    caughtBy: reader,
  },
  {
    id: 'integrations/prometheus-interval-not-reread',
    file: 'src/integrations/prometheus/metric-reader.ts',
    what: 'The end of an interval is not read.',
    from: ' && (now < dueAt || answers.at >= dueAt)',
    to: '',
    caughtBy: reader,
  },
  {
    id: 'integrations/prometheus-other-questions-answered',
    file: 'src/integrations/prometheus/metric-reader.ts',
    what: 'Answers about an earlier interval count for the present one.',
    from: 'held?.key === questions.key ? held.answers : undefined',
    to: 'held?.answers',
    caughtBy: reader,
  },
  {
    id: 'serving/prometheus-early-figures-judged',
    file: 'src/plan/serving/rollout/prometheus-source.ts',
    what: 'Figures from before the end of an interval are judged.',
    from: 'answers && answers.at >= endsAt ? answers : { isPending: true }',
    to: 'answers ?? { figures: new Map() }',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-failure-is-no-traffic',
    file: 'src/plan/serving/rollout/prometheus-source.ts',
    what: 'A Prometheus that fails counts as no requests.',
    from: 'if (answers?.problem !== undefined) return',
    to: 'if (answers?.problem === "never") return',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-watch-ends-unread',
    file: 'src/plan/serving/rollout/advance.ts',
    what: 'The watch ends before its last interval is read.',
    from: 'if (isUnread(stage, analysed)) return unread(stage, analysed)',
    to: 'if (!isLast(stage) && isUnread(stage, analysed)) return unread(stage, analysed)',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-p99-unknown-passes',
    file: 'src/plan/serving/rollout/judgement.ts',
    what: 'A version without histograms passes a limit on its p99.',
    from: "(maxLatencyP99Ms === undefined ? undefined : without(enough, 'latencyP99Ms'))",
    to: 'undefined',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-min-ignored',
    file: 'src/plan/serving/rollout/custom-metrics.ts',
    what: 'The smallest value of a metric is not judged.',
    from: 'value < Number(min) ? Number(min)',
    to: 'value > Number(min) + 1e9 ? Number(min)',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-custom-unknown-passes',
    file: 'src/plan/serving/rollout/custom-metrics.ts',
    what: 'A metric without a value passes.',
    from: 'if (unknown.length > 0)',
    to: 'if (unknown.length > 1_000)',
    caughtBy: rollouts,
  },
  {
    id: 'serving/prometheus-interval-from-status-window',
    file: 'src/plan/serving/measure/questions.ts',
    what: 'An interval is asked for by the window of the status.',
    from: "ask('interval', interval.figures, interval.seconds)",
    to: "ask('interval', interval.figures, measure.rateSeconds)",
    caughtBy: questions,
  },
]
