/**
 * One root filesystem for everything that is written in Python, so that the large part is made, stored and loaded
 * once: PyTorch, FastAPI and Uvicorn from Debian, about a gigabyte.
 */

import { isLayerAtHand } from '../testenv/debian-layer.ts'
import type { ImageFile } from '../testenv/image.ts'

export const PYTHON_PACKAGES: readonly string[] = ['python3-fastapi', 'python3-torch', 'python3-uvicorn']

/** What everybody but Debian calls it. */
export const PYTHON_LINK: Readonly<Record<string, ImageFile>> = {
  '/usr/local/bin/python': { linkTo: '/usr/bin/python3' },
}

export function isPythonAtHand(): boolean {
  return isLayerAtHand(PYTHON_PACKAGES)
}
