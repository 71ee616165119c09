/**
 * The Dockerfiles and the descriptions in images/*.ts match, compared as text. test/node/install.test.ts compares the
 * files of the built image.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { operatorImage } from '../../images/operator.ts'

const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', 'Dockerfile'), 'utf8')
const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
const image = operatorImage()

/** The arguments of an instruction of the last stage. */
function argumentsOf(instruction: string): string | undefined {
  return new RegExp(`^${instruction} (.+)$`, 'm').exec(last)?.[1]
}

test('the Dockerfile has the same entrypoint, command, user and working directory', () => {
  assert.deepEqual(JSON.parse(argumentsOf('ENTRYPOINT') ?? ''), image.entrypoint)
  assert.deepEqual(JSON.parse(argumentsOf('CMD') ?? ''), image.command)
  assert.equal(argumentsOf('USER'), image.user)
  assert.equal(argumentsOf('WORKDIR'), image.workingDirectory)
  assert.equal(
    argumentsOf('ENV'),
    Object.entries(image.env ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  )
})

test('the Dockerfile installs the same libraries', () => {
  const [, packages = ''] = /dpkg-query --listfiles (.+?) \|/.exec(dockerfile) ?? []
  assert.deepEqual(packages.split(' '), image.libraries)
})

test('no step of a Dockerfile writes bytecode of Python, which differs in each build', () => {
  const root = join(import.meta.dirname, '..', '..')
  for (const path of globSync(['Dockerfile', 'images/*/Dockerfile'], { cwd: root })) {
    const steps = readFileSync(join(root, path), 'utf8').replaceAll('\\\n', ' ').split('\n')
    for (const step of steps.filter((line) => line.startsWith('RUN '))) {
      const commands = step
        .replace(/^RUN /, '')
        .split(/&&|\|\||;/)
        .map((command) => command.trim())
      for (const command of commands.filter((one) => /\bpython3?\b/.test(one)))
        assert.match(command, /PYTHONDONTWRITEBYTECODE=1|--no-compile/, `${path}: ${command}`)
    }
  }
})

test('the image has no tests, no development packages, and nothing outside of /app but Node', () => {
  const paths = Object.keys(image.files ?? {})
  assert.ok(paths.includes('/app/src/main.ts'))
  assert.ok(paths.includes('/app/node_modules/undici/index.js'))
  assert.deepEqual(
    paths.filter((path) => path.endsWith('.test.ts') || /\/node_modules\/(typescript|fast-check|oxlint)\//.test(path)),
    [],
  )
  assert.deepEqual(
    paths.filter((path) => !path.startsWith('/app/')),
    ['/usr/local/bin/node'],
  )
})
