/** Any other framework. Rank, world size and the address of rank 0, which every worker has, are enough to build on. */
import { DEFAULT_IMAGE, type Framework, PYTHON_SCRIPT } from './contract.ts'

export const custom: Framework = {
  defaultImage: DEFAULT_IMAGE,
  launch: { command: PYTHON_SCRIPT },
  environment: () => [],
}
