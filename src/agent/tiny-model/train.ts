/** `ml-operator agent tiny-train`: the training of the installation check. Every worker fits the line; rank 0 stores it. */
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Flags, parseInteger } from '../../command/flags.ts'
import type { AgentCommand } from '../commands.ts'
import { fitLine, MODEL_FILE, type Point } from './model.ts'

const flags = {
  directory: { value: 'DIR', env: 'CHECKPOINT_DIR', default: '/checkpoints', help: 'directory for the model' },
  rank: { value: 'N', env: 'RANK', default: '0', help: 'rank of the worker' },
  epochs: { value: 'N', env: 'HYPERPARAM_EPOCHS', default: '500', help: 'passes over the points' },
} as const satisfies Flags

/** Points of y = 2x + 1. */
const POINTS: readonly Point[] = [-2, -1, 0, 1, 2].map((x) => [x, 2 * x + 1])

export const tinyTrainCommand: AgentCommand = {
  flags,
  run: async ({ flags: { directory, rank, epochs } }) => {
    const line = fitLine(POINTS, parseInteger('epochs', String(epochs), 1, 1_000_000))
    process.stdout.write(`${JSON.stringify({ event: 'trained', ...line })}\n`)
    if (parseInteger('rank', String(rank), 0, 1_000_000) > 0) return 0
    const path = join(String(directory), MODEL_FILE)
    await writeFile(`${path}.part`, JSON.stringify(line))
    await rename(`${path}.part`, path)
    return 0
  },
}
