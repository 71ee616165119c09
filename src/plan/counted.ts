/** Counts in messages: one is singular, everything else is plural. */

/** `1 worker`, `2 workers`. */
export const quantify = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `1 of 1 worker`, `1 of 2 workers`. */
export const portion = (part: number, count: number, noun: string): string => `${part} of ${quantify(count, noun)}`

/** `1 worker`, `all 2 workers`. */
export const allOf = (count: number, noun: string): string => `${count === 1 ? '' : 'all '}${quantify(count, noun)}`

/** `is` after one, `are` after any other count. */
export const isOrAre = (count: number): string => (count === 1 ? 'is' : 'are')
