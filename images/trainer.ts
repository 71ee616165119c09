/** The trainer of the demo: data-parallel training with PyTorch. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'
import { PYTHON_LINK, PYTHON_PACKAGES } from './python.ts'

export const TRAINER_IMAGE = 'ml-operator/spiral-trainer:1'

export function trainerImage(): ImageSpec {
  return {
    name: TRAINER_IMAGE,
    packages: PYTHON_PACKAGES,
    files: {
      ...PYTHON_LINK,
      '/app/train.py': { copyOf: join(import.meta.dirname, 'trainer', 'train.py'), mode: 0o644 },
      '/app/ml_operator.py': { copyOf: join(import.meta.dirname, '..', 'python', 'ml_operator.py'), mode: 0o644 },
    },
    command: ['python3', '/app/train.py'],
  }
}
