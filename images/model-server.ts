/** The model server of the runtime `fastapi-pytorch`, for TorchScript models. It listens on port 8000. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'
import { PYTHON_LINK, PYTHON_PACKAGES } from './python.ts'

/** Default image of the runtime. */
export const MODEL_SERVER_IMAGE = 'localhost/fastapi-pytorch:dev'

/** `name` can be any image of a manifest that this image replaces in a test. */
export function modelServerImage(name = MODEL_SERVER_IMAGE): ImageSpec {
  return {
    name,
    packages: PYTHON_PACKAGES,
    files: {
      ...PYTHON_LINK,
      '/app/server.py': { copyOf: join(import.meta.dirname, 'model-server', 'server.py'), mode: 0o644 },
    },
    command: ['python3', '/app/server.py'],
  }
}
