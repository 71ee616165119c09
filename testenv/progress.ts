/** A progress line for long work. Rewritten in place on a terminal, printed rarely in a log. */
export interface Progress {
  update(detail: string): void
  done(detail?: string): void
}

const LOG_EVERY_MS = 30_000

export function startProgress(what: string, estimate?: string): Progress {
  const terminal = process.stderr.isTTY
  const started = Date.now()
  let detail = ''
  const line = (): string => `${what}: ${[detail, elapsed(Date.now() - started)].filter(Boolean).join(', ')}`
  process.stderr.write(`${what}${estimate === undefined ? '' : ` (${estimate})`}\n`)
  const show = (): boolean => process.stderr.write(terminal ? `\r\u001B[K${line()}` : `${line()}\n`)
  const timer = setInterval(show, terminal ? 500 : LOG_EVERY_MS)
  timer.unref()
  return {
    update: (now) => void (detail = now),
    done: (last = 'done') => {
      clearInterval(timer)
      detail = last
      process.stderr.write(`${terminal ? '\r\u001B[K' : ''}${line()}\n`)
    },
  }
}

export function elapsed(ms: number): string {
  const seconds = Math.round(ms / 1000)
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`
}
