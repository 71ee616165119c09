/**
 * Line coverage over many processes: reads what V8 has written into the directory of `NODE_V8_COVERAGE`, and merges it. A line
 * is covered if one of the processes has run a part of it. Lines without code, such as types and comments, do not count; files
 * that no process has loaded do.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface FileCoverage {
  readonly file: string
  /** Number of lines with code. */
  readonly lines: number
  /** Numbers of the lines that no process has run. */
  readonly missed: readonly number[]
}

interface Range {
  readonly startOffset: number
  readonly endOffset: number
  readonly count: number
}

interface Report {
  readonly result: readonly { readonly url: string; readonly functions: readonly { readonly ranges: Range[] }[] }[]
}

interface Line {
  readonly number: number
  /** Offsets of its first and last character of code. */
  readonly from: number
  readonly to: number
}

/** The files below the folder, without tests. */
export function coverageOf(directory: string, folder: string): FileCoverage[] {
  const files = globSync(join(folder, '**/*.ts')).filter((file) => !file.endsWith('.test.ts'))
  const sources = new Map(files.map((file) => [pathToFileURL(resolve(file)).href, new Source(file)]))
  for (const name of readdirSync(directory).filter((one) => one.startsWith('coverage-'))) {
    for (const { url, functions } of reportIn(join(directory, name)).result)
      sources.get(url)?.add(functions.flatMap(({ ranges }) => ranges))
  }
  return [...sources.values()].map((source) => source.coverage())
}

/** A process that is killed while it writes its report leaves a part of it. */
function reportIn(file: string): Report {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { result: [] }
  }
}

export function percentOf(files: readonly FileCoverage[]): number {
  const sum = (count: (file: FileCoverage) => number): number => files.reduce((total, file) => total + count(file), 0)
  const lines = sum((file) => file.lines)
  return lines === 0 ? 100 : 100 * (1 - sum(({ missed }) => missed.length) / lines)
}

class Source {
  readonly #file: string
  readonly #length: number
  readonly #lines: number
  #missed: readonly Line[]

  constructor(file: string) {
    const text = readFileSync(file, 'utf8')
    this.#file = file
    this.#length = text.length
    this.#missed = linesOfCode(text)
    this.#lines = this.#missed.length
  }

  /** V8 lists outer ranges before inner ones. */
  add(ranges: readonly Range[]): void {
    if (this.#missed.length === 0) return
    const ran = new Uint8Array(this.#length)
    for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
    this.#missed = this.#missed.filter(({ from, to }) => !ran.subarray(from, to + 1).includes(1))
  }

  coverage(): FileCoverage {
    return { file: this.#file, lines: this.#lines, missed: this.#missed.map(({ number }) => number) }
  }
}

/** Node replaces types by spaces, so that positions in the code are those in the file. */
function linesOfCode(text: string): Line[] {
  const code = stripTypeScriptTypes(text)
    .replaceAll(/\/\*[\s\S]*?\*\//g, blank)
    .replaceAll(/(?<=^|\s)\/\/ .*$/gm, blank)
  let offset = 0
  return code.split('\n').flatMap((line, index) => {
    const start = offset
    offset += line.length + 1
    if (!/\w/.test(line)) return []
    return [{ number: index + 1, from: start + line.search(/\S/), to: start + line.trimEnd().length - 1 }]
  })
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')
