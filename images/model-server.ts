/** A model server for TorchScript models: what the runtime `fastapi-pytorch` stands for. It listens on 8000. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'
import { PYTHON_LINK, PYTHON_PACKAGES } from './python.ts'

/** As the runtime calls it. */
export const MODEL_SERVER_IMAGE = 'localhost/fastapi-pytorch:dev'

/** The name is free, because manifests name images of their own that this one can stand in for. */
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
