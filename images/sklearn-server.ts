/** MLServer with its scikit-learn runtime, from PyPI, for the runtime `sklearn`. */

import { join } from 'node:path'
import type { ImageSpec } from '../testenv/image.ts'

const START = `#!/usr/bin/python3
from mlserver.cli import main
main()
`

/** `name` is the image of the runtime, which tests cannot pull. */
export function sklearnServerImage(name: string): ImageSpec {
  return {
    name,
    packages: ['libstdc++6', 'python3'],
    wheels: join(import.meta.dirname, 'sklearn-server', 'requirements.txt'),
    files: { '/usr/local/bin/mlserver': { text: START, mode: 0o755 } },
    // Wheels are not compiled, and only /tmp is writable. With this cache, a restarted container need not compile again.
    env: { PYTHONPYCACHEPREFIX: '/tmp/python' },
    command: ['mlserver', '--help'],
  }
}
