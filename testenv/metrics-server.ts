/** The real metrics-server on the node's machine, so that HPAs scale by actual usage. */

import type { Binaries } from './binaries.ts'
import { Component } from './component.ts'
import type { ControlPlane } from './control-plane.ts'
import { answersOk } from './http-probe.ts'
import type { Machine } from './machine.ts'
import { subdirectory } from './run-directory.ts'

const PORT = 4443
const NAME = 'metrics-server'
const NAMESPACE = 'kube-system'

export async function startMetricsServer(
  plane: ControlPlane,
  machine: Machine,
  binaries: Binaries,
  onExit: (error: Error) => void,
): Promise<Component> {
  const kubeconfig = plane.kubeconfigFor({ name: NAME, organization: 'system:masters' })
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--secure-port=${PORT}`,
    `--cert-dir=${subdirectory(plane.runDirectory, NAME)}`,
    `--kubelet-certificate-authority=${plane.pki.file('ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--metric-resolution=10s',
    '--kubelet-request-timeout=5s',
  ]
  const command = machine.inside([binaries.path(NAME), ...flags])
  const ready = (): Promise<boolean> => answersOk(`https://${machine.nodeAddress}:${PORT}/livez`)
  const component = await new Component(plane.runDirectory, { name: NAME, command, ready }, onExit).start()
  await plane.kubectl.with(aggregation(machine.nodeAddress), 'create')
  return component
}

/** Registers the process, which is not a pod, as the server of `metrics.k8s.io`. */
function aggregation(address: string): object[] {
  const metadata = { name: NAME, namespace: NAMESPACE }
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 443, targetPort: PORT }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': NAME } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ port: PORT }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        service: { name: NAME, namespace: NAMESPACE },
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
      },
    },
  ]
}
