const NEWLINE = 0x0a

/** Splits a stream of bytes into lines. A last line without a newline is returned if the stream ends without an error. */
export async function* lines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  let pending: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end))
      yield decode(pending)
      pending = []
      start = end + 1
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
  }
  if (pending.length > 0) yield decode(pending)
}

/** Joins before decoding: a character may be split between two chunks. */
function decode(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString('utf8')
}
