/** Sizes and durations for people. */

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** With three significant digits and decimal units. */
export function sizeText(bytes: number): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), UNITS.length - 1)
  const value = bytes / 1_000 ** power
  return `${power === 0 ? String(value) : Number(value.toPrecision(3)).toString()} ${UNITS[power] ?? ''}`
}

export function durationText(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
