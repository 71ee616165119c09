/**
 * A source of progress: how the operator learns what the training code says. `src/api/training-report.ts` lists the sources by
 * precedence; the store ignores a source while one before it speaks. Sources whose pods send by themselves have no reader.
 *
 * Guarantees of a reader
 * - Whatever a pod says, it neither throws nor blocks the event loop, and its memory is bounded.
 * - `emit` gets values that are valid reports. It is not called after the signal has aborted.
 */
import type { ProgressReport, ProgressTarget, ReportSource } from '../../api/training-report.ts'

export interface Emit {
  report(report: ProgressReport): void
  /** Why nothing can be read; undefined when it can be read again. */
  problem(reason: string | undefined): void
}

export interface ProgressReader {
  readonly source: ReportSource
  /** Whether there is something to read from this pod. */
  canRead(target: ProgressTarget): boolean
  /** Reads until the signal aborts. Never rejects. */
  read(target: ProgressTarget, emit: Emit, signal: AbortSignal): Promise<void>
}
