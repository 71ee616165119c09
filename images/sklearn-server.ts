/** MLServer with its scikit-learn runtime, from the packages that its authors publish: what the runtime `sklearn` starts. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'

const START = `#!/usr/bin/python3
from mlserver.cli import main
main()
`

/** To be called as the runtime calls its image, which no test can pull. */
export function sklearnServerImage(name: string): ImageSpec {
  return {
    name,
    packages: ['libstdc++6', 'python3'],
    wheels: join(import.meta.dirname, 'sklearn-server', 'requirements.txt'),
    files: { '/usr/local/bin/mlserver': { text: START, mode: 0o755 } },
    // Wheels come uncompiled, and the pod may write here only: at least a restart need not compile again.
    env: { PYTHONPYCACHEPREFIX: '/tmp/python' },
    command: ['mlserver', '--help'],
  }
}
