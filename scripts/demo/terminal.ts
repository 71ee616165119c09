/** The output of the demo: permanent lines, and one line that is rewritten during a step. */

const WIDTH = 24
const INDENT = '     '

export class Terminal {
  readonly #out: NodeJS.WriteStream
  /** The rewritten line, while there is one. */
  #live: string | undefined

  constructor(out: NodeJS.WriteStream = process.stdout) {
    this.#out = out
  }

  heading(position: string, title: string): void {
    this.#settle()
    this.#out.write(`\n${this.#bold(`${position.padEnd(4)} ${title}`)}\n`)
  }

  line(text = ''): void {
    this.#settle()
    this.#out.write(text === '' ? '\n' : `${INDENT}${text}\n`)
  }

  /** Rewritten in place on a terminal; in a log, each different text is a line. */
  live(text: string): void {
    if (text === this.#live) return
    if (this.#out.isTTY) this.#out.write(`\r\u001B[K${INDENT}${text}`)
    else this.#out.write(`${INDENT}${text}\n`)
    this.#live = text
  }

  #settle(): void {
    if (this.#live !== undefined && this.#out.isTTY) this.#out.write('\n')
    this.#live = undefined
  }

  #bold(text: string): string {
    return this.#out.isTTY ? `\u001B[1m${text}\u001B[0m` : text
  }
}

export function bar(share: number, width = WIDTH): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}
