/**
 * Provides the cluster's binaries from the first source that has them: the directory `KUBE_ASSETS`, the user's cache, or a build
 * of the Go modules pinned in `testenv/go`.
 *
 * Guarantees: a binary in the cache is complete (published by one rename); an interrupted build continues from Go's own build
 * cache; concurrent processes build once; only requested assets are built.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, statfsSync } from 'node:fs'
import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Asset } from './assets.ts'
import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { withFileLock } from './file-lock.ts'
import { moduleDirectory } from './go-module.ts'
import { startProgress } from './progress.ts'

const MODULES = join(import.meta.dirname, 'go')
const MIN_GO = '1.26'
/** Module cache, build cache and binaries of all assets, with reserve. */
const NEEDED_DISK_GIB = 14

export interface Binaries {
  /** The path of a binary of one of the requested assets. */
  path(binary: string): string
}

export async function provideBinaries(assets: readonly Asset[]): Promise<Binaries> {
  const directories = new Map<string, string>()
  for (const asset of assets) {
    const directory = assetsOverride(asset) ?? cached(asset) ?? (await build(asset))
    for (const binary of asset.binaries) directories.set(binary, directory)
  }
  return {
    path: (binary) => {
      const directory = directories.get(binary)
      if (directory === undefined) throw new Error(`binary ${binary} belongs to none of: ${names(assets)}`)
      return join(directory, binary)
    },
  }
}

/** Whether these assets are available without a build. */
export function areAvailable(assets: readonly Asset[]): boolean {
  return assets.every((asset) => (assetsOverride(asset) ?? cached(asset)) !== undefined)
}

function assetsOverride(asset: Asset): string | undefined {
  const directory = process.env['KUBE_ASSETS']
  return directory !== undefined && isComplete(directory, asset) ? directory : undefined
}

function cached(asset: Asset): string | undefined {
  const directory = join(cacheDirectory('bin'), cacheKey(asset))
  return isComplete(directory, asset) ? directory : undefined
}

function isComplete(directory: string, asset: Asset): boolean {
  return asset.binaries.every((binary) => existsSync(join(directory, binary)))
}

/** Changes with the pinned versions, the checksums, the flags and the machine's architecture. */
function cacheKey(asset: Asset): string {
  const hash = createHash('sha256').update(JSON.stringify([asset, process.platform, process.arch]))
  const folder = join(MODULES, asset.name)
  const added = globSync('**/*.go', { cwd: folder }).toSorted()
  for (const file of ['go.mod', 'go.sum', ...added]) hash.update(readFileSync(join(folder, file)))
  return `${asset.name}-${hash.digest('hex').slice(0, 12)}`
}

async function build(asset: Asset): Promise<string> {
  const target = join(cacheDirectory('bin'), cacheKey(asset))
  return withFileLock(
    `${target}.lock`,
    async () => {
      if (isComplete(target, asset)) return target
      await assertBuildable(asset)
      const scratch = await mkdtemp(join(cacheDirectory('bin'), `.${asset.name}-`))
      try {
        await compile(asset, scratch)
        for (const [from, to] of Object.entries(asset.rename ?? {}))
          await rename(join(scratch, from), join(scratch, to))
        await rm(target, { recursive: true, force: true })
        await rename(scratch, target)
      } finally {
        await rm(scratch, { recursive: true, force: true })
      }
      return target
    },
    asset.name,
  )
}

async function compile(asset: Asset, out: string): Promise<void> {
  const progress = startProgress(
    `building ${asset.name} from Go modules`,
    `about ${asset.minutes} min when nothing is cached`,
  )
  const work = await copyOf(asset)
  const tags = asset.tags === undefined ? [] : ['-tags', asset.tags]
  const ldflags = `-s -w ${asset.ldflags ?? ''}`.trim()
  const args = ['build', '-v', '-trimpath', '-buildvcs=false', ...tags, '-ldflags', ldflags, '-o', `${out}/`, 'tool']
  const child = spawn('go', args, {
    cwd: work,
    env: { ...process.env, CGO_ENABLED: asset.cgo ? '1' : '0', GOFLAGS: '-mod=readonly', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let packages = 0
  let tail = ''
  child.stderr.on('data', (chunk: Buffer) => {
    packages += chunk.toString().split('\n').length - 1
    tail = (tail + chunk.toString()).slice(-4000)
    progress.update(`${packages} packages`)
  })
  const code = await new Promise((resolve) => child.on('exit', resolve).on('error', resolve))
  await rm(work, { recursive: true, force: true })
  progress.done(code === 0 ? `${packages} packages` : 'failed')
  if (code !== 0) throw new Error(`go build of ${asset.name} failed (${String(code)}):\n${tail}\n${advice(asset)}`)
}

/** Go works in a copy, so that it writes neither into the committed module nor into that of another build. */
async function copyOf({ name, extended = {} }: Asset): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'ml-operator-go-'))
  for (const [folder, module] of Object.entries(extended))
    await cp(await moduleDirectory(module), join(work, folder), { recursive: true })
  await runCommand(['chmod', '-R', 'u+w', work])
  await cp(join(MODULES, name), work, { recursive: true })
  return work
}

async function assertBuildable(asset: Asset): Promise<void> {
  const version = await goVersion()
  if (version === undefined) throw new Error(`no Go compiler on PATH.\n${advice(asset)}`)
  if (version.localeCompare(MIN_GO, 'en', { numeric: true }) < 0) {
    throw new Error(`Go ${version} is too old, ${MIN_GO} or newer is needed.\n${advice(asset)}`)
  }
  const disk = statfsSync(homedir())
  const freeGib = (disk.bavail * disk.bsize) / 2 ** 30
  if (freeGib < NEEDED_DISK_GIB) {
    throw new Error(
      `${freeGib.toFixed(1)} GiB free on the disk of ${homedir()}, about ${NEEDED_DISK_GIB} GiB are needed to compile ${asset.name}: free some space, or point KUBE_ASSETS at ready binaries.`,
    )
  }
}

async function goVersion(): Promise<string | undefined> {
  const child = spawn('go', ['env', 'GOVERSION'], { stdio: ['ignore', 'pipe', 'ignore'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()))
  const code = await new Promise((resolve) => child.on('close', resolve).on('error', resolve))
  return code === 0 ? out.trim().replace(/^go/, '') : undefined
}

function advice(asset: Asset): string {
  const override = process.env['KUBE_ASSETS']
  return [
    `Tried for ${names([asset])} (${asset.binaries.join(', ')}):`,
    `  1. KUBE_ASSETS: ${override === undefined ? 'not set' : `${override} is incomplete`}`,
    `  2. the cache ${cacheDirectory('bin')}: not found`,
    `  3. compiling ${join('testenv/go', asset.name)} with Go`,
    `To continue: install Go ${MIN_GO} or newer${asset.cgo ? ', a C compiler and libseccomp-dev' : ''}, or set KUBE_ASSETS to a directory with these binaries.`,
  ].join('\n')
}

function names(assets: readonly Asset[]): string {
  return assets.map((asset) => asset.name).join(', ')
}
