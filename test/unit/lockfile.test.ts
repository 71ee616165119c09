/** The lockfile installs exactly what was reviewed: verified content, from no other place, without running code. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')

interface LockedPackage {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly hasInstallScript?: boolean
  readonly link?: boolean
}

interface Lockfile {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockedPackage>>
}

const lockfile = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lockfile
const { '': _, ...locked } = lockfile.packages
const packages = Object.entries(locked)

const namesOf = (isWrong: (one: LockedPackage) => boolean): string[] =>
  packages.filter(([, one]) => isWrong(one)).map(([name]) => name)

test('the lockfile has packages', () => assert.ok(packages.length > 100 && lockfile.lockfileVersion === 3))

test('every package has a SHA-512 of its content', () => {
  assert.deepEqual(
    namesOf(({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity)),
    [],
  )
})

test('no package names a place: all come from the registry that npm is configured with', () => {
  assert.deepEqual(
    namesOf(({ resolved, link }) => resolved !== undefined || link === true),
    [],
  )
})

test('no package has an install script, and npm would not run one', () => {
  assert.deepEqual(
    namesOf(({ hasInstallScript }) => hasInstallScript === true),
    [],
  )
  assert.match(readFileSync(join(ROOT, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
})

test('direct dependencies have exact versions', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>
  const direct = ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((group) =>
    Object.entries((manifest[group] ?? {}) as Record<string, string>),
  )
  assert.deepEqual(
    direct.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)),
    [],
  )
})
