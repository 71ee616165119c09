/** The requirements of a node on this machine, and their installation. */

import { existsSync } from 'node:fs'

import { runCommand } from './command.ts'
import { startProgress } from './progress.ts'

interface SystemPackage {
  readonly name: string
  /** A file that exists if the package is installed. */
  readonly file: string
  readonly why: string
}

const SYSTEM_PACKAGES: readonly SystemPackage[] = [
  { name: 'util-linux', file: '/usr/bin/nsenter', why: 'the node runs in namespaces of its own' },
  { name: 'iproute2', file: '/usr/sbin/ip', why: 'links the node to this machine' },
  { name: 'iptables', file: '/usr/sbin/iptables', why: 'kube-proxy' },
  { name: 'busybox-static', file: '/bin/busybox', why: 'the smallest images' },
  { name: 'mmdebstrap', file: '/usr/bin/mmdebstrap', why: 'images with Debian packages' },
  { name: 'buildah', file: '/usr/bin/buildah', why: 'images from Dockerfiles' },
  { name: 'python3-pip', file: '/usr/lib/python3/dist-packages/pip', why: 'images with Python packages' },
  { name: 'gcc', file: '/usr/bin/gcc', why: 'compiles runc and containerd' },
  { name: 'libc6-dev', file: '/usr/include/stdlib.h', why: 'compiles runc and containerd' },
  { name: 'pkg-config', file: '/usr/bin/pkg-config', why: 'compiles runc' },
  { name: 'libseccomp-dev', file: '/usr/include/seccomp.h', why: 'compiles runc' },
]

/** Why this machine can't run a node; empty when it can. */
export function missingForNode(): string[] {
  const reasons: string[] = []
  if (process.platform !== 'linux') reasons.push(`a Linux kernel (this is ${process.platform})`)
  if (process.getuid?.() !== 0) reasons.push('root (namespaces, cgroups, mounts): run as root or with sudo')
  for (const { name, why } of missingPackages()) reasons.push(`the package ${name} (${why})`)
  return reasons
}

function missingPackages(): SystemPackage[] {
  return SYSTEM_PACKAGES.filter(({ file }) => !existsSync(file))
}

/** Installs missing system packages as root on Debian. Otherwise `missingForNode` reports them. */
export async function installSystemPackages(): Promise<void> {
  const names = missingPackages().map(({ name }) => name)
  const installable = process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
  if (names.length === 0 || !installable) return
  const progress = startProgress(`installing ${names.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await runCommand(['apt-get', 'update', '-qq'], { env })
    await runCommand(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...names], { env })
    progress.done()
  } catch (error) {
    progress.done('failed')
    process.stderr.write(`${String(error)}\n`)
  }
}
