/**
 * The assets of a cluster. Each is a committed Go module that compiles to one or more binaries. Versions are pinned in the
 * modules' `go.mod` files only; the cache is keyed by their content.
 */

import type { GoModule } from './go-module.ts'

export interface Asset {
  /** The folder below `testenv/go`. */
  readonly name: string
  readonly binaries: readonly string[]
  /** Binaries that Go names differently. */
  readonly rename?: Readonly<Record<string, string>>
  readonly cgo?: true
  readonly tags?: string
  readonly ldflags?: string
  /**
   * Published modules to which the asset adds files, by the folder with these files. `go.mod` replaces the module by the folder,
   * and a build completes the folder.
   */
  readonly extended?: Readonly<Record<string, GoModule>>
  /** Approximate time of a cold build on two cores, printed before the build. */
  readonly minutes: number
}

export const kubernetes: Asset = {
  name: 'kubernetes',
  binaries: ['kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kube-scheduler', 'kubectl', 'kubelet'],
  ldflags: '-X k8s.io/component-base/version.gitVersion=v1.36.3',
  minutes: 8,
}

export const etcd: Asset = {
  name: 'etcd',
  binaries: ['etcd', 'etcdctl'],
  rename: { server: 'etcd' },
  minutes: 1.5,
}

export const runc: Asset = { name: 'runc', binaries: ['runc'], cgo: true, tags: 'seccomp', minutes: 0.5 }

export const containerd: Asset = {
  name: 'containerd',
  binaries: ['containerd', 'containerd-shim-runc-v2', 'ctr'],
  cgo: true,
  minutes: 1.5,
}

export const cni: Asset = { name: 'cni', binaries: ['bridge', 'host-local', 'loopback', 'portmap'], minutes: 0.5 }

export const coredns: Asset = { name: 'coredns', binaries: ['coredns'], minutes: 3 }

export const metricsServer: Asset = { name: 'metrics-server', binaries: ['metrics-server'], minutes: 2 }

/** An S3 server on a directory. */
export const versitygw: Asset = { name: 'versitygw', binaries: ['versitygw'], minutes: 2.5 }

/** A server with the JSON API of Google Cloud Storage. */
export const fakeGcs: Asset = { name: 'fake-gcs-server', binaries: ['fake-gcs-server'], minutes: 1.5 }

/** A gateway with its data plane in one program. */
export const traefik: Asset = { name: 'traefik', binaries: ['traefik'], minutes: 10 }

/** The controller of a gateway with Envoy as its data plane. */
export const envoyGateway: Asset = { name: 'envoy-gateway', binaries: ['envoy-gateway'], minutes: 8 }

/** Checks manifests against JSON schemas. */
export const kubeconform: Asset = { name: 'kubeconform', binaries: ['kubeconform'], minutes: 0.2 }

/** Checks manifests against recommendations. */
export const kubeScore: Asset = { name: 'kube-score', binaries: ['kube-score'], minutes: 1 }

/** The scheduler and controllers of Volcano. */
export const volcano: Asset = {
  name: 'volcano',
  binaries: ['volcano-scheduler', 'volcano-controller-manager'],
  rename: { scheduler: 'volcano-scheduler', 'controller-manager': 'volcano-controller-manager' },
  extended: {
    apis: { module: 'volcano.sh/apis', version: 'v1.14.0', sum: 'h1:Rf8wzGFmgzbyg85GO0CxapDDEk/VM3D7QbjbI/sH+OQ=' },
  },
  minutes: 7,
}

/** The scheduler with the plugins of scheduler-plugins, such as coscheduling, and their controller. */
export const schedulerPlugins: Asset = {
  name: 'scheduler-plugins',
  binaries: ['scheduler-plugins-scheduler', 'scheduler-plugins-controller'],
  rename: { scheduler: 'scheduler-plugins-scheduler', controller: 'scheduler-plugins-controller' },
  minutes: 6,
}

export const controlPlaneAssets: readonly Asset[] = [etcd, kubernetes]
export const nodeAssets: readonly Asset[] = [runc, containerd, cni, coredns]
