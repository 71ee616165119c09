/** JSON logs, one object per line, by pino. `ReconcileFields` are the fields to filter by. */
import { type DestinationStream, type Level, type Logger as PinoLogger, pino } from 'pino'

export type Logger = PinoLogger
export type LogLevel = Level | 'silent'

export interface LoggerOptions {
  readonly level?: LogLevel
  /** Default: standard output. */
  readonly destination?: DestinationStream
}

/** The fields of every line of a reconcile. */
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
