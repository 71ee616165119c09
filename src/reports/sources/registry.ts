/** The readers of progress. `Report` has none: pods send by themselves. */
import type { ReportSource } from '../../api/training-report.ts'
import type { ProgressReader } from './contract.ts'
import { LogReader, type LogSourceOptions } from './log.ts'
import { MetricsReader } from './metrics.ts'

export function progressReaders(options: LogSourceOptions): readonly ProgressReader[] {
  const readers: Readonly<Record<ReportSource, ProgressReader | undefined>> = {
    Report: undefined,
    Metrics: new MetricsReader(options),
    Log: new LogReader(options),
  }
  return Object.values(readers).filter((reader) => reader !== undefined)
}
