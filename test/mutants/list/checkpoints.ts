import type { Mutant } from '../mutant.ts'
import { contract, properties } from '../oracles.ts'

const prepare = contract('src/agent/checkpoints/prepare.test.ts')
const stores = contract('src/agent/checkpoints/stores.test.ts')
const marker = contract('src/agent/checkpoints/marker.test.ts')
const hostile = contract('src/agent/checkpoints/hostile.test.ts')
const crash = properties('src/agent/checkpoints/crash.test.ts')

export const checkpointMutants: readonly Mutant[] = [
  {
    id: 'agent/checkpoints-half-written',
    file: 'src/agent/checkpoints/inspection.ts',
    what: 'A checkpoint whose files have other sizes than its marker lists counts as complete.',
    from: 'files.get(path)?.size === size',
    to: 'files.has(path) && size >= 0',
    caughtBy: prepare,
  },
  {
    id: 'agent/checkpoints-prune-too-many',
    file: 'src/agent/checkpoints/prune.ts',
    what: 'One checkpoint more than keepLast allows is deleted, also the newest one.',
    from: 'listing.complete.slice(keepLast)',
    to: 'listing.complete.slice(keepLast - 1)',
    caughtBy: prepare,
  },
  {
    id: 'agent/checkpoints-marker-path',
    file: 'src/agent/checkpoints/marker.ts',
    what: 'A marker may list files outside of its directory.',
    from: '!isRelativePath(path) || ',
    to: '',
    caughtBy: marker,
  },
  {
    id: 'agent/checkpoints-through-link',
    file: 'src/agent/checkpoints/local-files.ts',
    what: 'A file is written through a link out of the directory.',
    from: 'if (path !== real) throw',
    to: "if (path === '') throw",
    caughtBy: hostile,
  },
  {
    id: 'agent/checkpoints-changed-file',
    file: 'src/agent/checkpoints/local-files.ts',
    what: 'A file that changes while it is copied is copied as complete.',
    from: 'Number(stats.size) !== file.size || identityOf(stats) !== file.identity',
    to: 'Number(stats.size) < 0',
    caughtBy: hostile,
  },
  {
    id: 'agent/checkpoints-other-content',
    file: 'src/agent/checkpoints/bucket.ts',
    what: 'Objects of others in the folder of a checkpoint are overwritten.',
    from: 'if (present.size > 0) throw this.#occupied(folder)',
    to: '',
    caughtBy: stores,
  },
  {
    id: 'agent/checkpoints-delete-without-claim',
    file: 'src/agent/checkpoints/bucket.ts',
    what: 'What a killed deletion leaves is not known as ours, and remains forever.',
    from: 'await this.#store.put(claim, new Uint8Array(), signal)\n    await this.#store.remove(',
    to: 'await this.#store.remove(',
    caughtBy: crash,
  },
  {
    id: 'agent/checkpoints-oldest-first',
    file: 'src/agent/checkpoints/inspection.ts',
    what: 'The oldest checkpoint is chosen.',
    from: 'return b.step - a.step',
    to: 'return a.step - b.step',
    caughtBy: prepare,
  },
]
