/**
 * Content of the operator's image: Node, the C and C++ libraries that it is linked with, `src`, and the packages that
 * `src` needs at runtime. No shell and no package manager. The Dockerfile builds the same image.
 */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ImageFile, ImageSpec } from '../testenv/image.ts'

const ROOT = join(import.meta.dirname, '..')

const manifest = json('package.json') as { readonly version: string }

export const OPERATOR_IMAGE = `ml-operator:${manifest.version}`

/** Debian packages of the libraries that Node is linked with. */
export const LIBRARIES: readonly string[] = ['libc6', 'libgcc-s1', 'libstdc++6']

/** Files of a package that Node can load. */
const LOADABLE = '**/*.{js,cjs,mjs,json,node}'

export function operatorImage(): ImageSpec {
  return {
    name: OPERATOR_IMAGE,
    libraries: LIBRARIES,
    files: {
      '/usr/local/bin/node': { copyOf: nodeBinary(), mode: 0o755 },
      '/app/package.json': copyOf('package.json'),
      ...copies('src/**/*.ts', '**/*.test.ts'),
      ...Object.assign({}, ...productionPackages().map((path) => copies(`${path}/${LOADABLE}`))),
    },
    entrypoint: ['/usr/local/bin/node', '/app/src/main.ts'],
    command: ['--help'],
    env: { NODE_ENV: 'production' },
    workingDirectory: '/app',
    user: '65532',
  }
}

/** The Node that package.json pins, from the package for this architecture. */
export function nodeBinary(): string {
  return join(ROOT, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
}

function copies(pattern: string, exclude?: string): Record<string, ImageFile> {
  const files = globSync(pattern, { cwd: ROOT, ...(exclude !== undefined && { exclude: [exclude] }) }).toSorted()
  return Object.fromEntries(files.map((path) => [`/app/${path}`, copyOf(path)]))
}

/** Sets the mode explicitly, because that of the checkout depends on the umask. */
function copyOf(path: string): ImageFile {
  return { copyOf: join(ROOT, path), mode: 0o644 }
}

interface LockedPackage {
  readonly dev?: boolean
  readonly optional?: boolean
}

/** Packages that the lock file does not mark as `dev` or `optional`. */
function productionPackages(): string[] {
  const { packages } = json('package-lock.json') as { readonly packages: Readonly<Record<string, LockedPackage>> }
  const needed = Object.entries(packages).filter(([path, { dev, optional }]) => path !== '' && !dev && !optional)
  return needed.map(([path]) => path)
}

function json(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}
