/**
 * Builds the npm package of the controller runtime: `src/runtime`, `src/kube` and `src/net` as JavaScript with types, the
 * documentation and the example controller. `npm pack` of the directory gives the file to publish.
 */

import { globSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runCommand } from '../../testenv/command.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export const RUNTIME_PACKAGE = 'ml-operator-runtime'

const FOLDERS = ['kube', 'net', 'runtime']

interface Manifest {
  readonly version: string
  readonly license: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest

/** Writes the package into `directory`, which is emptied first. */
export async function writeRuntimePackage(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  await compile(directory)
  await writeFile(join(directory, 'package.json'), `${JSON.stringify(packageJson(directory), undefined, 2)}\n`)
  await writeFile(join(directory, 'README.md'), readme())
  await copy('LICENSE', join(directory, 'LICENSE'))
  await copy('docs/reference/errors.md', join(directory, 'reference', 'errors.md'))
  const example = packageImports(readFileSync(join(ROOT, 'examples', 'runtime', 'echo-controller.ts'), 'utf8'))
  await write(join(directory, 'examples', 'echo-controller.ts'), example)
}

async function compile(directory: string): Promise<void> {
  const config = join(directory, 'tsconfig.json')
  const settings = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: join(ROOT, 'src'),
      outDir: join(directory, 'dist'),
      typeRoots: [join(ROOT, 'node_modules', '@types')],
    },
    include: FOLDERS.map((folder) => join(ROOT, 'src', folder)),
    exclude: [join(ROOT, 'src', '**', '*.test.ts')],
  }
  await writeFile(config, JSON.stringify(settings))
  await runCommand([join(ROOT, 'node_modules', '.bin', 'tsc'), '--project', config])
  await rm(config)
  // The compiler rewrites relative imports in JavaScript, but not in declarations.
  for (const file of globSync('dist/**/*.d.ts', { cwd: directory })) {
    const code = readFileSync(join(directory, file), 'utf8')
    await writeFile(join(directory, file), code.replaceAll(/(['"])(\.[^'"]*)\.ts\1/g, '$1$2.js$1'))
  }
}

function packageJson(directory: string): object {
  const entry = (path: string) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` })
  return {
    name: RUNTIME_PACKAGE,
    version: manifest.version,
    description: 'A controller runtime for Kubernetes in TypeScript: caches, work queue, leader election, commit',
    license: manifest.license,
    type: 'module',
    engines: manifest.engines,
    exports: {
      '.': entry('runtime/index'),
      './testing': entry('runtime/fake-clock'),
      './kube/*': entry('kube/*'),
    },
    files: ['dist', 'examples', 'reference'],
    dependencies: dependencies(directory),
  }
}

/** The packages that the emitted files import, in the versions that we test with. */
function dependencies(directory: string): Record<string, string> {
  const files = globSync('dist/**/*.{js,d.ts}', { cwd: directory })
  const imported = files.flatMap((file) => bareImports(readFileSync(join(directory, file), 'utf8')))
  const versions = { ...manifest.devDependencies, ...manifest.dependencies }
  const names = [...new Set(imported)].toSorted()
  return Object.fromEntries(
    names.map((name) => {
      const version = versions[name]
      if (version === undefined) throw new Error(`the runtime imports ${name}, which package.json does not list`)
      return [name, version]
    }),
  )
}

/** Packages that a file imports. Types of Node's own modules are in `@types/node`. */
export function bareImports(code: string): string[] {
  const specifiers = [...code.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^.'"][^'"]*)['"]/g)].map(
    ([, name = '']) => name,
  )
  return specifiers.map((name) => {
    if (name.startsWith('node:')) return '@types/node'
    return name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/')
  })
}

/** Replaces imports of our sources by imports of the package. */
export function packageImports(code: string): string {
  return code
    .replaceAll(/'(?:\.\.\/)+src\/runtime\/index\.ts'/g, `'${RUNTIME_PACKAGE}'`)
    .replaceAll(/'(?:\.\.\/)+src\/kube\/([\w-]+)\.ts'/g, `'${RUNTIME_PACKAGE}/kube/$1'`)
    .replaceAll('node examples/runtime/echo-controller.ts', 'node echo-controller.ts')
}

function readme(): string {
  return readFileSync(join(ROOT, 'docs', 'runtime.md'), 'utf8').replaceAll('../examples/runtime/', 'examples/')
}

async function copy(from: string, to: string): Promise<void> {
  await write(to, readFileSync(join(ROOT, from), 'utf8'))
}

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
