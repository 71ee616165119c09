/**
 * The node: containerd, kubelet, kube-proxy and CoreDNS on a machine of their own (see machine.ts), so that pods run,
 * probes fire, ClusterIPs answer and names resolve. Needs root and Linux.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { stringify } from 'yaml'

import type { Binaries } from './binaries.ts'
import { cgroupName, createCgroups } from './cgroup.ts'
import { Component } from './component.ts'
import { containerdComponent, loadImage, pauseImage, socketOf } from './container-runtime.ts'
import type { ControlPlane } from './control-plane.ts'
import { answersOk } from './http-probe.ts'
import type { Image } from './image.ts'
import type { Machine } from './machine.ts'
import { subdirectory } from './run-directory.ts'

export const NODE_NAME = 'testenv-node'

const MAX_PODS = 200

export class Node {
  readonly containerd: Component
  readonly kubelet: Component
  readonly kubeProxy: Component
  readonly coredns: Component
  readonly #plane: ControlPlane
  readonly #machine: Machine
  readonly #binaries: Binaries
  readonly #onExit: (error: Error) => void

  constructor(plane: ControlPlane, machine: Machine, binaries: Binaries, onExit: (error: Error) => void) {
    this.#plane = plane
    this.#machine = machine
    this.#binaries = binaries
    this.#onExit = onExit
    createCgroups(plane.runDirectory)
    this.containerd = containerdComponent(plane.runDirectory, machine, binaries, onExit)
    this.kubelet = this.#kubelet()
    this.kubeProxy = this.#kubeProxy()
    this.coredns = this.#coredns()
  }

  async start(): Promise<void> {
    await this.containerd.start()
    await this.load(await pauseImage())
    await Promise.all([this.kubelet.start(), this.kubeProxy.start(), this.coredns.start()])
  }

  /** Kills the node's own processes; their children end with the run. */
  async kill(): Promise<void> {
    for (const component of [this.kubelet, this.kubeProxy, this.coredns, this.containerd]) await component.kill()
  }

  /** Loads an image into the node. Pods use it with `imagePullPolicy: IfNotPresent` or `Never`. */
  async load(image: Image): Promise<void> {
    await loadImage(this.#binaries, this.#plane.runDirectory, image)
  }

  /** Advertises GPUs to the scheduler, without hardware. Must be repeated after a restart of the kubelet. */
  async advertiseGpus(count: number): Promise<void> {
    const patch = JSON.stringify({ status: { capacity: { 'nvidia.com/gpu': String(count) } } })
    await this.#plane.kubectl('patch', 'node', NODE_NAME, '--subresource=status', '--type=merge', '-p', patch)
  }

  #component(name: string, flags: readonly string[], ready: () => Promise<boolean>): Component {
    const command = this.#machine.inside([this.#binaries.path(name), ...flags])
    return new Component(this.#plane.runDirectory, { name, command, ready }, this.#onExit)
  }

  #write(name: string, content: string): string {
    const path = join(this.#plane.runDirectory, name)
    writeFileSync(path, content)
    return path
  }

  #kubelet(): Component {
    const identity = { name: 'kubelet', commonName: `system:node:${NODE_NAME}`, organization: 'system:nodes' }
    const flags = [
      `--config=${this.#write('kubelet.yaml', stringify(this.#kubeletConfig()))}`,
      `--kubeconfig=${this.#plane.kubeconfigFor(identity)}`,
      `--hostname-override=${NODE_NAME}`,
      `--node-ip=${this.#machine.nodeAddress}`,
      `--root-dir=${subdirectory(this.#plane.runDirectory, 'kubelet')}`,
    ]
    return this.#component('kubelet', flags, () => this.#isNodeReady())
  }

  async #isNodeReady(): Promise<boolean> {
    const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    return (await this.#plane.kubectl('get', 'node', NODE_NAME, path)) === 'True'
  }

  #kubeletConfig(): object {
    const { runDirectory, pki } = this.#plane
    const { nodeAddress } = this.#machine
    const serving = pki.issue('kubelet-server', {
      commonName: NODE_NAME,
      dnsNames: [NODE_NAME],
      ipAddresses: [nodeAddress],
      usages: ['server'],
    })
    return {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      address: nodeAddress,
      authentication: {
        anonymous: { enabled: false },
        x509: { clientCAFile: pki.file('ca.crt') },
        webhook: { enabled: true },
      },
      authorization: { mode: 'Webhook' },
      tlsCertFile: serving.cert,
      tlsPrivateKeyFile: serving.key,
      clusterDomain: 'cluster.local',
      clusterDNS: [nodeAddress],
      resolvConf: this.#write('resolv.conf', `nameserver ${nodeAddress}\n`),
      containerRuntimeEndpoint: `unix://${socketOf(runDirectory)}`,
      cgroupDriver: 'cgroupfs',
      cgroupRoot: `/${cgroupName(runDirectory)}`,
      failCgroupV1: false,
      failSwapOn: false,
      enforceNodeAllocatable: [],
      evictionHard: {},
      imageGCHighThresholdPercent: 100,
      maxPods: MAX_PODS,
      podLogsDir: subdirectory(runDirectory, 'pod-logs'),
      volumePluginDir: subdirectory(runDirectory, 'volume-plugins'),
    }
  }

  /** Masquerades everything, so that responses are routed back without the kernel's bridge netfilter. */
  #kubeProxy(): Component {
    const { nodeAddress, podCidr } = this.#machine
    const config = {
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      mode: 'iptables',
      bindAddress: nodeAddress,
      healthzBindAddress: `${nodeAddress}:10256`,
      clientConnection: { kubeconfig: this.#plane.kubeconfigFor({ name: 'system:kube-proxy' }) },
      clusterCIDR: podCidr,
      hostnameOverride: NODE_NAME,
      conntrack: { maxPerCore: 0 },
      iptables: { masqueradeAll: true, minSyncPeriod: '100ms' },
    }
    const flags = [`--config=${this.#write('kube-proxy.yaml', stringify(config))}`]
    return this.#component('kube-proxy', flags, () => answersOk(`http://${nodeAddress}:10256/livez`))
  }

  /** No cache: a name resolves as soon as its endpoint exists. No forwarder: other names do not resolve. */
  #coredns(): Component {
    const { nodeAddress } = this.#machine
    const kubeconfig = this.#plane.kubeconfigFor({ name: 'coredns', organization: 'system:masters' })
    const corefile = `cluster.local:53 in-addr.arpa:53 {
  bind ${nodeAddress}
  errors
  ready ${nodeAddress}:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig} testenv
    ttl 0
  }
}
.:53 {
  bind ${nodeAddress}
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`
    const flags = ['-conf', this.#write('Corefile', corefile)]
    return this.#component('coredns', flags, () => answersOk(`http://${nodeAddress}:8181/ready`))
  }
}
