/** JSON logs, one object per line, by pino. Fields that everybody filters by have one name each: see `ReconcileFields`. */
import { type DestinationStream, type Level, type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger
export type LogLevel = Level | 'silent'

export interface LoggerOptions {
  readonly level?: LogLevel
  /** Where the lines go: standard output unless told otherwise. */
  readonly destination?: DestinationStream
}

/** What every line written during a reconcile carries. */
export interface ReconcileFields {
  readonly controller: string
  readonly namespace?: string
  readonly name: string
  readonly reconcileId: string
}

export function createLogger({ level = 'info', destination }: LoggerOptions = {}): Logger {
  const settings = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  return destination ? pino(settings, destination) : pino(settings)
}

export function reconcileLogger(log: Logger, fields: ReconcileFields): Logger {
  return log.child(fields)
}
