/** An image with Python and our helper, for workers that report their progress. */
import { join } from 'node:path'
import { buildImage } from '../../testenv/image.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'
import { ROOT } from '../documents/blocks.ts'

export const REPORTER = 'testenv/reporter:1'

/** Half of the epochs are done; three quarters when the file /tmp/go exists. */
const HELPER = `
import ml_operator, os, time
ml_operator.report(epoch=2, total_epochs=4, loss=0.5, lr=0.1)
while not os.path.exists("/tmp/go"): time.sleep(0.2)
ml_operator.report(epoch=3, total_epochs=4, loss=0.25)
time.sleep(3600)
`
const LINES = `
echo 'a line that is no report'
echo 'epoch=2/4 loss=0.5 lr=0.1'
until [ -f /tmp/go ]; do sleep 0.2; done
echo 'epoch=3/4 loss=0.25'
exec sleep 3600
`
export const reportByHelper: readonly string[] = ['python3', '-c', HELPER]
export const reportByLog: readonly string[] = ['sh', '-c', LINES]

export async function loadReporter(): Promise<void> {
  const cluster = await nodeCluster()
  const helper = { copyOf: join(ROOT, 'python', 'ml_operator.py'), mode: 0o644 }
  const image = await buildImage({
    name: REPORTER,
    packages: ['python3'],
    files: { '/opt/helper/ml_operator.py': helper },
    env: { PYTHONPATH: '/opt/helper' },
  })
  await cluster.load(image)
}
