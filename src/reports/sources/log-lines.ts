/** Splits chunks of a log into lines. Progress bars end their lines with a carriage return. Lines that are too long are omitted. */

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const MAX_LINE = 16 * 1024

export class LogLines {
  #pending: Uint8Array[] = []
  #length = 0

  /** The lines that end in this chunk, at most `max`: the last ones. */
  push(chunk: Uint8Array, max: number): string[] {
    const found: string[] = []
    let start = 0
    for (let end = separatorIn(chunk, 0); end !== -1; end = separatorIn(chunk, start)) {
      this.#keep(chunk.subarray(start, end))
      const line = this.#take()
      if (line.length > 0) found.push(line)
      if (found.length > 2 * max) found.splice(0, max)
      start = end + 1
    }
    this.#keep(chunk.subarray(start))
    return found.slice(-max)
  }

  /** Only the length of a line that is too long is kept. */
  #keep(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length > MAX_LINE) this.#pending = []
    else if (part.length > 0) this.#pending.push(part)
  }

  #take(): string {
    const line = this.#length > MAX_LINE ? '' : Buffer.concat(this.#pending).toString('utf8')
    this.#pending = []
    this.#length = 0
    return line
  }
}

function separatorIn(chunk: Uint8Array, from: number): number {
  for (let index = from; index < chunk.length; index += 1)
    if (chunk[index] === LINE_FEED || chunk[index] === CARRIAGE_RETURN) return index
  return -1
}
