import { installSystemPackages } from '../../../testenv/requirements.ts'
import { localCluster, removeLocalCluster, startLocalCluster } from '../local-cluster.ts'
import type { Stage } from '../stage.ts'

/** A real Kubernetes on this machine. Replaces one that does not respond any more. */
export const cluster: Stage = {
  title: 'A Kubernetes on this machine: control plane, kubelet, containerd, DNS',

  async isDone(demo) {
    if (localCluster(demo.settings) === undefined) return false
    const answer = (await demo.client()).request({ method: 'GET', path: '/readyz' }, { timeoutMs: 5_000 })
    return answer.then(
      () => true,
      () => false,
    )
  },

  async run(demo) {
    await removeLocalCluster(demo.settings)
    await installSystemPackages()
    await startLocalCluster(demo.settings, demo.signal)
    demo.seen.push('a real Kubernetes came up on this machine, without Docker')
  },
}
