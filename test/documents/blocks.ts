/** The code blocks of our documents, for tests to run and apply. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

export interface Block {
  /** The heading above the block. */
  readonly heading: string
  readonly language: string
  readonly text: string
}

export function blocksIn(document: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: { readonly indent: string; readonly language: string; readonly lines: string[] } | undefined
  for (const line of readFileSync(join(ROOT, document), 'utf8').split('\n')) {
    const fence = /^( *)```(\w*)$/.exec(line)
    if (open && fence) {
      blocks.push({ heading, language: open.language, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else if (open) open.lines.push(line.slice(open.indent.length))
    else if (fence) open = { indent: fence[1] ?? '', language: fence[2] ?? '', lines: [] }
    else heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading
  }
  return blocks
}

/** The shell commands of the README under a heading, block by block. */
export function readmeCommands(heading: string): string[] {
  return blocksIn('README.md')
    .filter((block) => block.language === 'sh' && block.heading === heading)
    .map(({ text }) => text.trim())
}
