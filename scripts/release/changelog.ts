/** Release notes from CHANGELOG.md, which is in the format of Keep a Changelog. */

/** The section of a version, without its heading. Link references of the page that the section uses are added. */
export function notesOf(changelog: string, version: string): string {
  const lines = changelog.split('\n')
  const start = lines.findIndex((line) => versionOf(line) === version)
  if (start < 0) throw new Error(`CHANGELOG.md has no section for ${version}: add "## [${version}] - YYYY-MM-DD"`)
  const rest = lines.slice(start + 1)
  const length = rest.findIndex((line) => line.startsWith('## '))
  const section = rest.slice(0, length < 0 ? undefined : length).filter((line) => !isReference(line))
  const text = section.join('\n').trim()
  if (text === '') throw new Error(`The section ${version} of CHANGELOG.md is empty`)
  const references = lines.filter((line) => isReference(line) && text.includes(`[${labelOf(line)}]`))
  return `${[text, references.join('\n')].filter((part) => part !== '').join('\n\n')}\n`
}

/** The version of a heading such as `## [0.1.0] - 2026-01-31`, with or without brackets and date. */
function versionOf(line: string): string | undefined {
  return /^## \[?v?(\d[^\]\s]*)\]?(?: - .*)?$/.exec(line)?.[1]
}

const REFERENCE = /^\[([^\]]+)\]: \S/

const isReference = (line: string): boolean => REFERENCE.test(line)

const labelOf = (line: string): string => REFERENCE.exec(line)?.[1] ?? ''
