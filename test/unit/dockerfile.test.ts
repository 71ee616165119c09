/** No Docker here, so the two ways to make the operator's image are held together by what they say. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { operatorImage } from '../../images/operator.ts'

const dockerfile = readFileSync(join(import.meta.dirname, '..', '..', 'Dockerfile'), 'utf8')
const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
const image = operatorImage()

/** The arguments of an instruction of the last stage. */
function said(instruction: string): string | undefined {
  return new RegExp(`^${instruction} (.+)$`, 'm').exec(last)?.[1]
}

test('the Dockerfile starts the same program, as the same user, in the same place', () => {
  assert.deepEqual(JSON.parse(said('ENTRYPOINT') ?? ''), image.entrypoint)
  assert.deepEqual(JSON.parse(said('CMD') ?? ''), image.command)
  assert.equal(said('USER'), image.user)
  assert.equal(said('WORKDIR'), image.workingDirectory)
  assert.equal(
    said('ENV'),
    Object.entries(image.env ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  )
})

test('the Dockerfile brings the same libraries', () => {
  const [, packages = ''] = /apt-get download (.+?) \\/.exec(dockerfile) ?? []
  assert.deepEqual(packages.split(' '), image.libraries)
})

test('the image holds what runs: no tests, no packages for building, nothing outside of /app but Node', () => {
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
