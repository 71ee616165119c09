/** The first SIGTERM or SIGINT stops in order; the second ends the process, as nobody listens any more. */
export function stopSignal(told: (signal: string) => void = () => {}): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      told(signal)
      stop.abort()
    })
  }
  return stop.signal
}
