/** The code blocks of our documents, for tests to run and apply. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..')

export interface Block {
  /** The heading above the block. */
  readonly heading: string
  readonly language: string
  /**
   * The word after the language, for YAML that is not a manifest of our cluster: `config` for settings of the operator,
   * `fragment` for a part of a manifest, `foreign` for a manifest of another project.
   */
  readonly label: string
  readonly text: string
}

export function blocksIn(document: string): Block[] {
  const blocks: Block[] = []
  let heading = ''
  let open: (Omit<Block, 'heading' | 'text'> & { readonly indent: string; readonly lines: string[] }) | undefined
  for (const line of readFileSync(join(ROOT, document), 'utf8').split('\n')) {
    const fence = /^( *)```(\w*)(?: (\w+))?$/.exec(line)
    if (open && fence) {
      const { language, label, lines } = open
      blocks.push({ heading, language, label, text: `${lines.join('\n')}\n` })
      open = undefined
    } else if (open) open.lines.push(line.slice(open.indent.length))
    else if (fence) open = { indent: fence[1] ?? '', language: fence[2] ?? '', label: fence[3] ?? '', lines: [] }
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
