/** Figures from Prometheus. It has the whole interval, so nothing is recorded at its start. */
import { type Answers, type Measured, measuredFigures } from '../measure/answers.ts'
import type { AnalysisSource, Unread } from './analysis-source.ts'

export const prometheusSource: AnalysisSource = {
  name: 'Prometheus',
  opening: ({ measured }) => (measured ? [] : undefined),
  readings({ measured }, { endsAt }) {
    const answers = answersOf(measured, endsAt)
    return 'values' in answers ? { figures: measuredFigures(answers) } : answers
  },
}

/** Answers about the whole interval. */
export function answersOf(measured: Measured | undefined, endsAt: number): Answers | Unread {
  const { answers } = measured ?? {}
  if (answers?.problem !== undefined) return { isPending: true, says: `waiting for Prometheus: it ${answers.problem}` }
  return answers && answers.at >= endsAt ? answers : { isPending: true }
}
