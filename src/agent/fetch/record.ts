/**
 * What a directory holds of a model, remembered across runs: a file of JSON lines, one for each file that is in place and
 * one at the end when all are. It is only ever appended to, so that a run that dies leaves a true record; a line that was
 * cut off, or says what this program does not know, is passed over.
 */
import { appendFile, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that is in place. */
export interface Kept {
  readonly path: string
  readonly size: number
  readonly identity?: string
}

/** Said last: everything of the URI is there. */
export interface Completion {
  readonly uri: string
  readonly at: string
  /** The checksum that was asked for, and found. */
  readonly checksum?: string
}

interface Contents {
  readonly files: ReadonlyMap<string, Kept>
  readonly completion?: Completion
}

type Line = { readonly file: Kept } | { readonly complete: Completion }

export class Record {
  readonly #path: string
  readonly #directory: string

  constructor(state: string, directory: string) {
    this.#path = join(state, 'record.jsonl')
    this.#directory = directory
  }

  /** What is said to be there, and has the size that it should have. */
  async read(): Promise<Contents> {
    const text = await readFile(this.#path, 'utf8').catch(() => '')
    const lines = text.split('\n').flatMap(parsedLine)
    const said = new Map(lines.flatMap((line) => ('file' in line ? [[line.file.path, line.file] as const] : [])))
    const last = lines.at(-1)
    const files = new Map<string, Kept>()
    for (const [path, file] of said) if (await this.#isThere(file)) files.set(path, file)
    const isWhole = last !== undefined && 'complete' in last && files.size === said.size
    return { files, ...(isWhole && { completion: last.complete }) }
  }

  /** Forgets what is not among these, and that it was complete. */
  async begin(files: readonly Kept[]): Promise<void> {
    const scratch = `${this.#path}.${process.pid}`
    await writeFile(scratch, files.map((file) => lineOf({ file })).join(''))
    await rename(scratch, this.#path)
  }

  add(file: Kept): Promise<void> {
    return appendFile(this.#path, lineOf({ file }))
  }

  complete(complete: Completion): Promise<void> {
    return appendFile(this.#path, lineOf({ complete }))
  }

  async #isThere({ path, size }: Kept): Promise<boolean> {
    const found = await stat(join(this.#directory, path)).catch(() => undefined)
    return found?.isFile() === true && found.size === size
  }
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`
}

function parsedLine(text: string): Line[] {
  try {
    const line = JSON.parse(text) as Partial<{ file: Partial<Kept>; complete: Partial<Completion> }>
    if (typeof line.file?.path === 'string' && typeof line.file.size === 'number') return [{ file: line.file as Kept }]
    return typeof line.complete?.uri === 'string' ? [{ complete: line.complete as Completion }] : []
  } catch {
    return []
  }
}
