/**
 * The record of the files that a directory has of a model, across runs: JSON lines, one for each file in place, and a last
 * one when all are. It is only appended to, so that a killed run leaves a true record. Truncated and unknown lines are
 * ignored.
 */
import { appendFile, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that is in place. */
export interface Kept {
  readonly path: string
  readonly size: number
  readonly identity?: string
}

/** The last line: all files of the URI are in place. */
export interface Completion {
  readonly uri: string
  readonly at: string
  /** The expected checksum, if one was verified. */
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

  /** The recorded files that exist with the recorded size. */
  async read(): Promise<Contents> {
    const text = await readFile(this.#path, 'utf8').catch(() => '')
    const lines = text.split('\n').flatMap(parseLine)
    const recorded = new Map(lines.flatMap((line) => ('file' in line ? [[line.file.path, line.file] as const] : [])))
    const last = lines.at(-1)
    const files = new Map<string, Kept>()
    for (const [path, file] of recorded) if (await this.#exists(file)) files.set(path, file)
    const isWhole = last !== undefined && 'complete' in last && files.size === recorded.size
    return { files, ...(isWhole && { completion: last.complete }) }
  }

  /** Keeps only these files, and marks the model as incomplete. */
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

  async #exists({ path, size }: Kept): Promise<boolean> {
    const found = await stat(join(this.#directory, path)).catch(() => undefined)
    return found?.isFile() === true && found.size === size
  }
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`
}

function parseLine(text: string): Line[] {
  try {
    const line = JSON.parse(text) as Partial<{ file: Partial<Kept>; complete: Partial<Completion> }>
    if (typeof line.file?.path === 'string' && typeof line.file.size === 'number') return [{ file: line.file as Kept }]
    return typeof line.complete?.uri === 'string' ? [{ complete: line.complete as Completion }] : []
  } catch {
    return []
  }
}
