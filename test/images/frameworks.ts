/** Images with a framework and a small program that trains with it: `/app/train.py`, which jobs without a command run. */
import { join } from 'node:path'
import { PYTHON_LINK } from '../../images/python.ts'
import { buildImage, type ImageFile, type ImageSpec } from '../../testenv/image.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'
import { ROOT } from '../documents/blocks.ts'

const PROGRAMS = join(import.meta.dirname, 'frameworks')

/** ssh and sshd look up the user of training pods. The layer of Debian packages does not have it. */
const USERS = ['root:x:0:0:root:/root:/bin/bash', 'mpiuser:x:1000:1000::/tmp:/bin/bash', ''].join('\n')

const wheels = (name: string): Partial<ImageSpec> => ({
  packages: ['libstdc++6', 'python3'],
  wheels: join(PROGRAMS, `${name}.txt`),
})

const contents: Readonly<Record<string, Partial<ImageSpec>>> = {
  jax: wheels('jax'),
  tensorflow: wheels('tensorflow'),
  xgboost: wheels('xgboost'),
  mpi: {
    packages: ['openmpi-bin', 'openssh-client', 'openssh-server', 'python3-mpi4py', 'python3-numpy'],
    files: { '/etc/passwd': { text: USERS } },
  },
}

/** Builds the image of a framework and loads it into the node. Returns its name. */
export async function loadFramework(framework: string): Promise<string> {
  const content = contents[framework]
  const name = `testenv/${framework}-trainer:1`
  const image = await buildImage({
    ...content,
    name,
    files: { ...PYTHON_LINK, ...content?.files, ...programs(framework) },
    // Wheels are not compiled.
    env: { PYTHONPYCACHEPREFIX: '/tmp/python' },
  })
  await (await nodeCluster()).load(image)
  return name
}

function programs(framework: string): Record<string, ImageFile> {
  const file = (path: string): ImageFile => ({ copyOf: path, mode: 0o644 })
  return {
    '/app/train.py': file(join(PROGRAMS, `train_${framework}.py`)),
    '/app/gang.py': file(join(PROGRAMS, 'gang.py')),
    '/app/ml_operator.py': file(join(ROOT, 'python', 'ml_operator.py')),
  }
}
