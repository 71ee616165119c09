/** HAProxy as Debian has it, for the router of models: in clusters of this machine, which reach no registry. */

import type { ImageSpec } from '../testenv/image.ts'

export const ROUTER_IMAGE = 'ml-operator-router:1'

export const ROUTER_PACKAGES = ['haproxy']

export function routerImage(): ImageSpec {
  return { name: ROUTER_IMAGE, packages: ROUTER_PACKAGES, command: ['haproxy', '-v'] }
}
