/**
 * A Kubernetes control plane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler. Needs neither root nor a node;
 * several can run in parallel. It ends with the process that started it, unless it is `persistent`.
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { controlPlaneAssets } from './assets.ts'
import { type Binaries, provideBinaries } from './binaries.ts'
import { runCommand } from './command.ts'
import { Component, reportExit } from './component.ts'
import { answersOk } from './http-probe.ts'
import { type Identity, writeKubeconfig } from './kubeconfig.ts'
import { type Kubectl, kubectlFor } from './kubectl.ts'
import { Pki } from './pki.ts'
import { freePorts } from './ports.ts'
import { type RunOptions, startRun } from './run.ts'
import { subdirectory, tearDown } from './run-directory.ts'

export interface ControlPlaneOptions {
  /** The address of the API server. Default: loopback. */
  readonly address?: string
  readonly serviceCidr?: string
  readonly podCidr?: string
  /** The API server behaves as one of this release, such as `1.34`. Default: its own release. */
  readonly emulatedVersion?: string
  /** Feature gates to enable in every component, such as `GangScheduling`. */
  readonly featureGates?: readonly string[]
  /** APIs that the server does not serve by default, such as `scheduling.k8s.io/v1alpha2`. */
  readonly apis?: readonly string[]
  /** Records every request in the file `auditLog`. Default: false. */
  readonly audit?: boolean
  /** Called when a component exits unexpectedly. Default: prints the message to standard error. */
  readonly onExit?: (error: Error) => void
}

export interface ControlPlane {
  readonly runDirectory: string
  readonly server: string
  /** An administrator's kubeconfig. */
  readonly kubeconfig: string
  readonly pki: Pki
  /** With the option `audit`: one audit event per line. */
  readonly auditLog: string
  readonly etcd: Component
  readonly apiserver: Component
  readonly controllerManager: Component
  readonly scheduler: Component
  /** The kubeconfig of any identity, signed by the cluster's CA. */
  kubeconfigFor(identity: Identity): string
  readonly kubectl: Kubectl
  etcdctl(...args: string[]): Promise<string>
  stop(): Promise<void>
}

const LOOPBACK = '127.0.0.1'
/** Large enough for all Services of a test run. Not routed without a node. */
const SERVICE_CIDR = '198.19.0.0/16'
const POD_CIDR = '198.18.0.0/24'
const DNS_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']

export async function startControlPlane(options: ControlPlaneOptions & RunOptions = {}): Promise<ControlPlane> {
  const binaries = await provideBinaries(controlPlaneAssets)
  return startRun(options, (runDirectory) => launchControlPlane(runDirectory, binaries, options))
}

/** Starts the control plane as part of a run that the caller started. */
export async function launchControlPlane(
  runDirectory: string,
  binaries: Binaries,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const plane = new LocalControlPlane(runDirectory, binaries, await freePorts(5), options)
  await plane.start()
  return plane
}

function gatesOf(component: string, { featureGates = [] }: ControlPlaneOptions): string[] {
  if (featureGates.length === 0 || component === 'etcd') return []
  return [`--feature-gates=${featureGates.map((gate) => `${gate}=true`).join(',')}`]
}

type Ports = [etcd: number, peer: number, api: number, controllers: number, scheduler: number]

class LocalControlPlane implements ControlPlane {
  readonly runDirectory: string
  readonly server: string
  readonly pki: Pki
  readonly kubeconfig: string
  readonly auditLog: string
  readonly etcd: Component
  readonly apiserver: Component
  readonly controllerManager: Component
  readonly scheduler: Component
  readonly kubectl: Kubectl
  readonly #binaries: Binaries
  readonly #etcdUrl: string

  constructor(runDirectory: string, binaries: Binaries, ports: readonly number[], options: ControlPlaneOptions) {
    const [etcdPort, peerPort, apiPort, controllerPort, schedulerPort] = ports as Ports
    const address = options.address ?? LOOPBACK
    const onExit = options.onExit ?? reportExit
    const component = (name: string, flags: readonly string[], health: string): Component =>
      new Component(
        runDirectory,
        { name, command: [binaries.path(name), ...flags, ...gatesOf(name, options)], ready: () => answersOk(health) },
        onExit,
      )
    this.#binaries = binaries
    this.runDirectory = runDirectory
    this.#etcdUrl = `http://${LOOPBACK}:${etcdPort}`
    this.server = `https://${address}:${apiPort}`
    this.auditLog = join(runDirectory, 'audit.log')
    this.pki = new Pki(runDirectory)
    this.kubeconfig = this.kubeconfigFor({ name: 'admin', organization: 'system:masters' })
    this.kubectl = kubectlFor(binaries, this.kubeconfig)
    this.etcd = component('etcd', this.#etcdFlags(peerPort), `${this.#etcdUrl}/health`)
    this.apiserver = component(
      'kube-apiserver',
      this.#apiserverFlags(address, apiPort, options),
      `${this.server}/readyz`,
    )
    this.controllerManager = component(
      'kube-controller-manager',
      this.#controllerManagerFlags(controllerPort, options),
      `https://${LOOPBACK}:${controllerPort}/healthz`,
    )
    this.scheduler = component(
      'kube-scheduler',
      this.#schedulerFlags(schedulerPort),
      `https://${LOOPBACK}:${schedulerPort}/healthz`,
    )
  }

  async start(): Promise<void> {
    await this.etcd.start()
    await this.apiserver.start()
    await Promise.all([this.controllerManager.start(), this.scheduler.start()])
    // No pod can be created before this ServiceAccount exists.
    await this.kubectl('wait', '--for=create', 'serviceaccount/default', '--timeout=60s')
  }

  kubeconfigFor(identity: Identity): string {
    return writeKubeconfig(this.runDirectory, this.pki, this.server, identity)
  }

  async etcdctl(...args: string[]): Promise<string> {
    return runCommand([this.#binaries.path('etcdctl'), '--endpoints', this.#etcdUrl, ...args])
  }

  async stop(): Promise<void> {
    for (const component of [this.scheduler, this.controllerManager, this.apiserver, this.etcd]) await component.kill()
    await tearDown(this.runDirectory)
  }

  /** Without fsync: the data must survive a crash of the process, not of the machine. */
  #etcdFlags(peerPort: number): string[] {
    const peer = `http://${LOOPBACK}:${peerPort}`
    return [
      `--data-dir=${join(this.runDirectory, 'etcd')}`,
      `--listen-client-urls=${this.#etcdUrl}`,
      `--advertise-client-urls=${this.#etcdUrl}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ]
  }

  #apiserverFlags(address: string, port: number, options: ControlPlaneOptions): string[] {
    const serviceCidr = options.serviceCidr ?? SERVICE_CIDR
    const serving = this.pki.issue('kube-apiserver', {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', ...DNS_NAMES],
      ipAddresses: [...new Set([LOOPBACK, address, firstAddress(serviceCidr)])],
      usages: ['server'],
    })
    return [
      `--etcd-servers=${this.#etcdUrl}`,
      `--bind-address=${address}`,
      `--secure-port=${port}`,
      `--cert-dir=${subdirectory(this.runDirectory, 'apiserver')}`,
      `--tls-cert-file=${serving.cert}`,
      `--tls-private-key-file=${serving.key}`,
      `--client-ca-file=${this.pki.file('ca.crt')}`,
      '--authorization-mode=Node,RBAC',
      '--allow-privileged=true',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${this.pki.file('service-account.pub')}`,
      `--service-account-signing-key-file=${this.pki.file('service-account.key')}`,
      `--service-cluster-ip-range=${serviceCidr}`,
      ...(options.emulatedVersion === undefined ? [] : [`--emulated-version=${options.emulatedVersion}`]),
      ...(options.apis ?? []).map((api) => `--runtime-config=${api}=true`),
      ...(options.audit === true ? this.#auditFlags() : []),
      ...this.#kubeletClientFlags(),
      ...this.#aggregationFlags(),
      // A loopback address can't be the endpoint of the `kubernetes` Service.
      ...(address === LOOPBACK ? ['--endpoint-reconciler-type=none'] : [`--advertise-address=${address}`]),
    ]
  }

  /** Without bodies: who sent which request, and the answer. */
  #auditFlags(): string[] {
    const policy = join(this.runDirectory, 'audit-policy.json')
    const rules = [{ level: 'Metadata', omitStages: ['RequestReceived'] }]
    writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }))
    return [`--audit-policy-file=${policy}`, `--audit-log-path=${this.auditLog}`, '--audit-log-mode=blocking']
  }

  #kubeletClientFlags(): string[] {
    const kubelet = this.pki.issue('apiserver-kubelet-client', {
      commonName: 'kube-apiserver-kubelet-client',
      organization: 'system:masters',
      usages: ['client'],
    })
    return [
      `--kubelet-client-certificate=${kubelet.cert}`,
      `--kubelet-client-key=${kubelet.key}`,
      `--kubelet-certificate-authority=${this.pki.file('ca.crt')}`,
      '--kubelet-preferred-address-types=InternalIP',
    ]
  }

  #aggregationFlags(): string[] {
    const proxy = this.pki.issueFrontProxyClient()
    return [
      `--requestheader-client-ca-file=${this.pki.file('front-proxy-ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-username-headers=X-Remote-User',
      `--proxy-client-cert-file=${proxy.cert}`,
      `--proxy-client-key-file=${proxy.key}`,
    ]
  }

  #controllerManagerFlags(port: number, options: ControlPlaneOptions): string[] {
    const kubeconfig = this.kubeconfigFor({ name: 'system:kube-controller-manager' })
    return [
      ...this.#controllerFlags(kubeconfig, port),
      `--service-account-private-key-file=${this.pki.file('service-account.key')}`,
      `--root-ca-file=${this.pki.file('ca.crt')}`,
      `--cluster-signing-cert-file=${this.pki.file('ca.crt')}`,
      `--cluster-signing-key-file=${this.pki.file('ca.key')}`,
      `--cluster-cidr=${options.podCidr ?? POD_CIDR}`,
      '--use-service-account-credentials=true',
      // The defaults are for large clusters; tests would wait for them.
      '--kube-api-qps=300',
      '--kube-api-burst=300',
      '--concurrent-namespace-syncs=50',
      '--horizontal-pod-autoscaler-sync-period=2s',
    ]
  }

  #schedulerFlags(port: number): string[] {
    return this.#controllerFlags(this.kubeconfigFor({ name: 'system:kube-scheduler' }), port)
  }

  #controllerFlags(kubeconfig: string, port: number): string[] {
    return [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      `--bind-address=${LOOPBACK}`,
      `--secure-port=${port}`,
      '--leader-elect=false',
    ]
  }
}

/** `198.19.0.0/16` → `198.19.0.1`, the address of the `kubernetes` Service. */
function firstAddress(cidr: string): string {
  return cidr.replace(/0\/\d+$/, '1')
}
