import { NODE_NAME } from '../../testenv/node.ts'
import { until } from '../timing/until.ts'
import type { NodeCluster } from './node-cluster.ts'

/** Lets the node advertise this many GPUs, which do not exist. */
export async function advertiseGpus({ kubectl }: NodeCluster, count: number): Promise<void> {
  const patch = JSON.stringify({ status: { capacity: { 'nvidia.com/gpu': String(count) } } })
  await kubectl('patch', 'node', NODE_NAME, '--subresource=status', '--type=merge', '-p', patch)
  await until('the node to advertise them', async () => {
    const path = '-o=jsonpath={.status.allocatable.nvidia\\.com/gpu}'
    return (await kubectl('get', 'node', NODE_NAME, path)) === String(count)
  })
}
