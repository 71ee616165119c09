import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { socketOf } from '../../testenv/container-runtime.ts'
import type { NodeCluster } from './node-cluster.ts'

/** Writes a program `kind` into a directory. Its `load image-archive FILE` loads into the node of the test. */
export async function writeKind(directory: string, { binaries, runDirectory }: NodeCluster): Promise<void> {
  const load = [binaries.path('ctr'), '--address', socketOf(runDirectory), '--namespace', 'k8s.io', 'images', 'import']
  const script = `#!/bin/sh -eu\n[ "$1 $2" = 'load image-archive' ]\nexec ${load.join(' ')} --local "$3"\n`
  await writeFile(join(directory, 'kind'), script, { mode: 0o755 })
}
