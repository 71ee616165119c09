import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const flags = contract('src/command/flags.test.ts')

export const commandMutants: readonly Mutant[] = [
  {
    id: 'command/environment-wins',
    file: 'src/command/flags.ts',
    what: 'A default overrules the environment.',
    from: '(flag.env === undefined ? undefined : env[flag.env] || undefined) ?? flag.default',
    to: 'flag.default ?? (flag.env === undefined ? undefined : env[flag.env] || undefined)',
    caughtBy: flags,
  },
  {
    id: 'command/switch-takes-anything',
    file: 'src/command/flags.ts',
    what: 'A switch with a misspelt value counts as on.',
    from: "if (given === 'true' || given === '1') return true",
    to: 'if (said !== undefined) return true',
    caughtBy: flags,
  },
]
