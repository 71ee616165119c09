/** HAProxy from Debian: what divides the traffic of a model where there is no mesh and no gateway. */

import type { ImageSpec } from '../testenv/image.ts'

export const HAPROXY_IMAGE = 'ml-operator/haproxy:2.6'

export function haproxyImage(): ImageSpec {
  return { name: HAPROXY_IMAGE, packages: ['haproxy'], command: ['haproxy', '-v'] }
}
