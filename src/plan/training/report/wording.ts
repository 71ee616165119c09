/** Counts and names in messages. */
import type { Replica } from '../observe/attempt.ts'

export { allOf, isOrAre, portion, quantify } from '../../counted.ts'

/** `Worker 3`, or a role that is capitalized the same way. */
export const nameOf = ({ role, index }: Replica): string => `${capitalize(role)} ${index}`

export const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
