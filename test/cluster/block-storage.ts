import { BLOCK_CLASS, IS_DEFAULT_CLASS } from '../../testenv/storage.ts'
import { until } from '../timing/until.ts'
import type { NodeCluster } from './node-cluster.ts'

const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'probe' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}

/** Makes the class with block storage the default, or `standard` again. Returns when new claims get it. */
export async function setDefaultClass(
  { kubectl }: NodeCluster,
  name: typeof BLOCK_CLASS | 'standard' = BLOCK_CLASS,
): Promise<void> {
  for (const one of [BLOCK_CLASS, 'standard'])
    await kubectl('annotate', '--overwrite', 'storageclass', one, `${IS_DEFAULT_CLASS}=${one === name}`)
  await until(`claims to get the class ${name}`, async () => {
    const output = '-o=jsonpath={.spec.storageClassName}'
    return (await kubectl.with([claim], 'create', '-n', 'default', '--dry-run=server', output)) === name
  })
}
