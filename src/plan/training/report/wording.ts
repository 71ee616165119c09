/** Counts and names in messages. */
import type { Replica } from '../observe/attempt.ts'

/** `1 worker`, `2 workers`. */
export const quantify = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** `1 of 1 worker`, `1 of 2 workers`. */
export const portion = (part: number, count: number, noun: string): string => `${part} of ${quantify(count, noun)}`

/** `1 worker`, `all 2 workers`. */
export const allOf = (count: number, noun: string): string => `${count === 1 ? '' : 'all '}${quantify(count, noun)}`

/** `Worker 3`, or a role that is capitalized the same way. */
export const nameOf = ({ role, index }: Replica): string => `${capitalize(role)} ${index}`

export const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
