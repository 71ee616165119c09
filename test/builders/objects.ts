/** Simple Kubernetes objects. */
import type { ConfigMap, Pod } from '../../src/kube/resources.ts'

export function configMap(ns: string, name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: ns, name }, data }
}

/** A pod that is never scheduled. */
export function pendingPod(ns: string, name: string, memory = '64Mi'): Pod {
  const container = { name: 'main', image: 'none', resources: { requests: { memory } } }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: ns, name, labels: { app: name } },
    spec: { schedulerName: 'nobody', containers: [container] },
  }
}
