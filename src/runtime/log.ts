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
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly reconcileId: string
  /** Only with tracing. */
  readonly traceId?: string
}

/** Logs a line about an object, unless the object or the process has used up its budget of lines. */
export type Note = (level: 'info' | 'warn' | 'error', fields: object, message: string) => void

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
