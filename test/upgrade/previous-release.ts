/** The release before this one, from the history of the repository. Upgrades are tested from it, and back to it. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../../testenv/command.ts'

/** The commit of the release. Set it to the commit of each new release, once that is published. */
const COMMIT = '81f67500b32c77fd55f731e739698cf5e9833bb6'

const ROOT = join(import.meta.dirname, '..', '..')

export interface Release {
  readonly chart: string
  /** Its entry point. */
  readonly main: string
}

export const currentRelease: Release = releaseIn(ROOT)

function releaseIn(directory: string): Release {
  return { chart: join(directory, 'charts', 'ml-operator'), main: join(directory, 'src', 'main.ts') }
}

/** Why the previous release is missing here: a shallow clone, or a copy without history. False if it is not. */
export function previousReleaseMissing(): string | false {
  try {
    execFileSync('git', ['-C', ROOT, 'cat-file', '-e', `${COMMIT}^{commit}`], { stdio: 'ignore' })
    return false
  } catch {
    return `the previous release, commit ${COMMIT.slice(0, 12)}, is not in the git history here: git fetch --unshallow`
  }
}

/**
 * Extracts the chart and the source. The source uses the npm packages of this release: the packages of the previous one
 * must be among them, in compatible versions.
 */
export async function extractPreviousRelease(): Promise<Release & { readonly remove: () => void }> {
  const directory = mkdtempSync(join(tmpdir(), 'previous-release-'))
  const archive = join(directory, 'release.tar')
  const content = ['package.json', 'charts', 'src']
  await runCommand(['git', '-C', ROOT, 'archive', `--output=${archive}`, COMMIT, ...content])
  await runCommand(['tar', '--extract', `--file=${archive}`, `--directory=${directory}`])
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  return { ...releaseIn(directory), remove: () => rmSync(directory, { recursive: true }) }
}
