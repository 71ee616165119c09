/**
 * Writes everything for a release page: install.yaml, the chart, the package of the runtime, the wheel of the Python helper,
 * image archives with digests, an SBOM, release notes and checksums.
 *
 * Usage: scripts/release.ts [--output DIRECTORY] [--image REFERENCE] [--without-images]
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { dockerfileImages, type DockerfileName } from '../images/dockerfiles.ts'
import { OPERATOR_IMAGE } from '../images/operator.ts'
import { writeRelease } from './release/release.ts'

const ROOT = join(import.meta.dirname, '..')

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: join(ROOT, 'dist', 'release') },
    image: { type: 'string', default: OPERATOR_IMAGE },
    'without-images': { type: 'boolean', default: false },
  },
})

const checksums = await writeRelease({
  directory: values.output,
  images: values['without-images'] ? [] : (Object.keys(dockerfileImages) as DockerfileName[]),
  operatorImage: values.image,
  changelog: readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'),
  report: (step) => process.stderr.write(`writing ${step}\n`),
})
process.stdout.write(checksums)
