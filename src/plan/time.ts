/** Times in the format of Kubernetes, to the second, and durations for messages. */
import { timestamp } from '../kube/time.ts'

export { timestamp }

/** The first full second that is not before this moment. */
export const notBefore = (ms: number): string => timestamp(Math.ceil(ms / 1000) * 1000)

export function millis(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? undefined : ms
}

/** `45s`, `12m 5s`, `2h 15m`, `3d 4h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const units: readonly [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ]
  const first = units.findIndex(([amount]) => amount > 0)
  if (first === -1) return '0s'
  const [one, two] = units.slice(first, first + 2).filter(([amount]) => amount > 0)
  return [one, two].flatMap((unit) => (unit ? `${unit[0]}${unit[1]}` : [])).join(' ')
}
