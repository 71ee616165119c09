/** Aborts at the first SIGTERM or SIGINT. The second one ends the process, because it is no longer handled. */
export function stopSignal(onSignal: (signal: string) => void = () => {}): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      onSignal(signal)
      stop.abort()
    })
  }
  return stop.signal
}
