/**
 * The common layer of the images with Python: PyTorch, FastAPI and Uvicorn from Debian, about one gigabyte. It is built,
 * stored and loaded once.
 */

import { isLayerCached } from '../testenv/debian-layer.ts'
import type { ImageFile } from '../testenv/image.ts'

export const PYTHON_PACKAGES: readonly string[] = ['python3-fastapi', 'python3-torch', 'python3-uvicorn']

/** Debian has `python3` only. */
export const PYTHON_LINK: Readonly<Record<string, ImageFile>> = {
  '/usr/local/bin/python': { linkTo: '/usr/bin/python3' },
}

export function isPythonAtHand(): boolean {
  return isLayerCached(PYTHON_PACKAGES)
}
