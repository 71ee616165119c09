/** Parts of JSON schemas that several schemas of the chart share. */

export type JsonSchema = Readonly<Record<string, unknown>>

export const STRINGS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } }
