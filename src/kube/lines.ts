const NEWLINE = 0x0a

/** Cuts a stream of bytes into lines. A last line without its newline is given out when the stream ends by itself. */
export async function* lines(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  let pending: Uint8Array[] = []
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end))
      yield text(pending)
      pending = []
      start = end + 1
    }
    if (start < chunk.length) pending.push(chunk.subarray(start))
  }
  if (pending.length > 0) yield text(pending)
}

/** Joined before decoding: a character may be cut in two by a chunk's end. */
function text(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString('utf8')
}
