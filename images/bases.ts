/** Bases for our Dockerfiles, made of Debian packages of this machine's package sources instead of pulled. */

import { globSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { buildImage, type ImageFile, type ImageSpec } from '../testenv/image.ts'
import { nodeBinary } from './operator.ts'
import { PYTHON_LINK, PYTHON_PACKAGES } from './python.ts'

const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

export const NODE_PACKAGES: readonly string[] = ['libstdc++6']

/** Debian with Node and npm. npm trusts the certificate authorities that this machine trusts. */
export async function nodeBase(): Promise<string> {
  const spec: ImageSpec = {
    name: 'ml-operator/base-node:1',
    packages: NODE_PACKAGES,
    files: {
      '/usr/local/bin/node': { copyOf: nodeBinary(), mode: 0o755 },
      '/usr/local/bin/npm': { linkTo: '/usr/local/lib/npm/bin/npm-cli.js' },
      ...npmFiles('/usr/local/lib/npm'),
      ...trust(),
    },
    env: { NODE_EXTRA_CA_CERTS: CERTIFICATES },
    user: '0',
  }
  return (await buildImage(spec)).archive
}

/** Debian with Python, PyTorch, FastAPI and Uvicorn. */
export async function pythonBase(): Promise<string> {
  const spec = { name: 'ml-operator/base-python:1', packages: PYTHON_PACKAGES, files: PYTHON_LINK, user: '0' }
  return (await buildImage(spec)).archive
}

/** The npm of this machine. */
function npmFiles(target: string): Record<string, ImageFile> {
  const [command] = (process.env['PATH'] ?? '').split(delimiter).flatMap((path) => globSync(join(path, 'npm')))
  if (command === undefined) throw new Error('npm is not in PATH')
  // npm is a link to bin/npm-cli.js of its package.
  const root = join(realpathSync(command), '..', '..')
  const files = globSync('{bin,lib,node_modules}/**/*.{js,cjs,json}', { cwd: root })
  return Object.fromEntries(
    ['package.json', ...files]
      .toSorted()
      .map((path) => [join(target, path), { copyOf: join(root, path), mode: 0o755 }] as const),
  )
}

function trust(): Record<string, ImageFile> {
  return globSync(CERTIFICATES).length === 0 ? {} : { [CERTIFICATES]: { copyOf: CERTIFICATES, mode: 0o644 } }
}
