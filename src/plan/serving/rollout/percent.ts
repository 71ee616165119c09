/** Percentages of a spec as whole numbers, which compare exactly. */

const PERCENT = 10_000

/** `1.5%` is 15,000: millionths of the whole. */
export const millionths = (percent: string): number => Math.round(Number.parseFloat(percent) * PERCENT)
