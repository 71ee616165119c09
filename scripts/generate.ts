/**
 * Writes everything that is derived from `src/api` and from the permissions in `scripts/install`: CRDs, roles, the API reference
 * and editor schemas. With `--check`, writes nothing and fails if a file is out of date.
 */

import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { kinds } from '../src/api/kinds.ts'
import { editorSchemas } from './editor-schemas.ts'
import { INSTALL_FOLDERS, installFiles } from './install/files.ts'
import { MONITORING_FOLDERS, monitoringFiles } from './monitoring/files.ts'
import { metricsPage } from './monitoring/reference-page.ts'
import { referencePages } from './reference.ts'

const ROOT = join(import.meta.dirname, '..')
const NOTE = 'Generated from src/api by scripts/generate.ts. Do not edit.'

const METRICS_NOTE = 'Generated from the metrics of the code by scripts/generate.ts. Do not edit.'

/** Folders with generated files only: other files in them are deleted. */
const OWNED = [...INSTALL_FOLDERS, ...MONITORING_FOLDERS, 'schemas']

type Files = ReadonlyMap<string, string>

/** Path from the root of the repository → content. */
export function generatedFiles(): Files {
  const schemas = editorSchemas(kinds).map(({ name, schema }): [string, string] => [
    `schemas/${name}.json`,
    `${JSON.stringify(schema, null, 2)}\n`,
  ])
  const pages = [...referencePages(kinds)].map(([path, content]): [string, string] => [
    `docs/${path}`,
    `<!-- ${NOTE} -->\n\n${content}`,
  ])
  const metrics = ['docs/reference/metrics.md', `<!-- ${METRICS_NOTE} -->\n\n${metricsPage()}`] as const
  return new Map([...installFiles(), ...monitoringFiles(), ...schemas, ...pages, metrics])
}

/** Generated files that are missing or differ, and files in our folders that nothing generates any more. */
export async function staleFiles(files: Files): Promise<string[]> {
  const differing = await Promise.all(
    [...files].map(async ([path, content]) => ((await read(path)) === content ? [] : [path])),
  )
  return [...differing.flat(), ...(await orphans(files))].toSorted()
}

async function orphans(files: Files): Promise<string[]> {
  const present = await Promise.all(
    OWNED.map(async (folder) => {
      const entries = await readdir(join(ROOT, folder), { withFileTypes: true }).catch(() => [])
      return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => `${folder}/${name}`)
    }),
  )
  return present.flat().filter((path) => !files.has(path))
}

async function read(path: string): Promise<string | undefined> {
  return readFile(join(ROOT, path), 'utf8').catch(() => undefined)
}

async function write(files: Files): Promise<void> {
  for (const path of await orphans(files)) await rm(join(ROOT, path))
  for (const [path, content] of files) {
    await mkdir(dirname(join(ROOT, path)), { recursive: true })
    await writeFile(join(ROOT, path), content)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const files = generatedFiles()
  if (!values.check) return write(files)
  const stale = await staleFiles(files)
  if (stale.length === 0) return
  process.stderr.write(`stale, run \`make generate\`:\n${stale.map((path) => `  ${path}\n`).join('')}`)
  process.exitCode = 1
}

if (import.meta.main) await main()
