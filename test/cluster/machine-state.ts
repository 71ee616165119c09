import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Everything that a cluster could leave behind on this machine. Equal before and after if it leaves nothing. */
export interface MachineState {
  readonly processes: readonly string[]
  readonly mounts: readonly string[]
  readonly networkNamespaces: readonly string[]
  readonly links: readonly string[]
  readonly routes: readonly string[]
  readonly packetFilter: readonly string[]
  readonly directories: readonly string[]
  readonly cgroups: readonly string[]
}

export function machineState(): MachineState {
  return {
    processes: clusterProcesses(),
    mounts: lines(readFileSync('/proc/self/mountinfo', 'utf8')).map((line) => line.split(' ').slice(3).join(' ')),
    networkNamespaces: namespacesInUse(),
    links: lines(run('ip', '-o', 'link')).map((line) => line.split(': ')[1] ?? line),
    routes: lines(run('ip', 'route')),
    packetFilter: existsSync('/usr/sbin/iptables-save')
      ? lines(run('iptables-save')).filter((line) => /^[:*-]/.test(line))
      : [],
    directories: readdirSync(tmpdir()).filter((name) => name.startsWith('mlk-')),
    cgroups: readdirSync('/sys/fs/cgroup', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join('/sys/fs/cgroup', name)))
      .filter((name) => name.startsWith('mlk-')),
  }
}

const PROGRAMS =
  /\/(etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubelet|kube-proxy|coredns|containerd|containerd-shim-runc-v2|metrics-server)\0|provisioner\.ts|reaper\.ts|sleep\0infinity/

function clusterProcesses(): string[] {
  return pids()
    .map((pid) => ({ pid, command: read(`/proc/${pid}/cmdline`) }))
    .filter(({ command }) => PROGRAMS.test(command))
    .map(({ pid, command }) => `${pid} ${command.replaceAll('\0', ' ').slice(0, 100)}`)
    .toSorted()
}

function namespacesInUse(): string[] {
  const links = pids().map((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`)
    } catch {
      return ''
    }
  })
  return [...new Set(links)].filter(Boolean).toSorted()
}

function pids(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean)
}
