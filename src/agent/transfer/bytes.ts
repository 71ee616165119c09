/** Content of files and objects. */

/** From `start` up to but excluding `end`; without `end`, to the end of the file. */
export interface ByteRange {
  readonly start: number
  readonly end?: number
}

export type Bytes = AsyncIterable<Uint8Array>
