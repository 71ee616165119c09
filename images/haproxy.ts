/** HAProxy from Debian, for the built-in router. */

import type { ImageSpec } from '../testenv/image.ts'

export const HAPROXY_IMAGE = 'ml-operator/haproxy:2.6'

export function haproxyImage(): ImageSpec {
  return { name: HAPROXY_IMAGE, packages: ['haproxy'], command: ['haproxy', '-v'] }
}
