/**
 * The machine of the node: a network and a mount namespace, held open by one sleeping process and linked to the host by a veth
 * pair. Bridges, routes, iptables chains, pod network namespaces and mounts exist only inside, so the host's network is not
 * changed, and everything disappears with the last process.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { runCommand } from './command.ts'
import { Component, reportExit } from './component.ts'
import { subdirectory } from './run-directory.ts'

export interface Machine {
  readonly holder: Component
  /** The host's end of the link, on which the API server listens. */
  readonly hostAddress: string
  /** The node's InternalIP. */
  readonly nodeAddress: string
  readonly podCidr: string
  readonly serviceCidr: string
  /** Wraps a command to run inside. It keeps its process id. */
  inside(command: readonly string[]): string[]
}

/** Nodes on this machine; each has a slot of the address range 198.18.0.0/15, which is reserved for tests. */
const SLOTS = 99

/** Directories that node programs write to besides the configured paths; inside, these are private and empty. */
const PRIVATE_DIRECTORIES = ['/run', '/var/log', '/var/lib']

const UNSHARE = ['unshare', '--net', '--mount', '--propagation', 'private']

export async function startMachine(runDirectory: string, keep: readonly string[]): Promise<Machine> {
  const ready = join(runDirectory, 'machine-ready')
  const holder = new Component(
    runDirectory,
    {
      name: 'machine',
      command: [...UNSHARE, 'sh', '-c', holderScript(runDirectory, keep)],
      ready: async () => existsSync(ready),
    },
    reportExit,
  )
  await holder.start()
  const inside = (command: readonly string[]): string[] => [
    'nsenter',
    `--target=${holder.pid}`,
    '--net',
    '--mount',
    `--wd=${runDirectory}`,
    '--',
    ...command,
  ]
  const slot = await takeSlot(holder.pid)
  const addresses = {
    hostAddress: `198.19.${100 + slot}.1`,
    nodeAddress: `198.19.${100 + slot}.2`,
    podCidr: `198.18.${slot}.0/24`,
    serviceCidr: `198.19.${slot}.0/24`,
  }
  await configureHostEnd(slot, addresses)
  await configureNodeEnd(inside, addresses)
  return { holder, inside, ...addresses }
}

/** Mounts directories with binaries again where a private directory would hide them. */
function holderScript(runDirectory: string, keep: readonly string[]): string {
  const hidden = [...new Set(keep)].filter((path) => PRIVATE_DIRECTORIES.some((top) => path.startsWith(`${top}/`)))
  const kept = hidden.map((path, index) => ({ path, aside: subdirectory(runDirectory, 'kept', String(index)) }))
  return [
    'set -e',
    ...kept.map(({ path, aside }) => `mount --bind '${path}' '${aside}'`),
    ...PRIVATE_DIRECTORIES.map((path) => `mount -t tmpfs tmpfs ${path}`),
    ...kept.map(({ path, aside }) => `mkdir -p '${path}' && mount --bind '${aside}' '${path}'`),
    'ip link set lo up',
    'touch machine-ready',
    'exec sleep infinity',
  ].join('\n')
}

async function takeSlot(holderPid: number): Promise<number> {
  for (let slot = 1; slot <= SLOTS; slot++) {
    const add = ['ip', 'link', 'add', `mlk${slot}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(holderPid)]
    try {
      await runCommand(add)
      return slot
    } catch (error) {
      if (!String(error).includes('File exists')) throw error
    }
  }
  throw new Error(`all ${SLOTS} network slots are taken: run 'make cluster-down', or look at 'ip link'`)
}

type Addresses = Pick<Machine, 'hostAddress' | 'nodeAddress' | 'podCidr' | 'serviceCidr'>

async function configureHostEnd(
  slot: number,
  { hostAddress, nodeAddress, podCidr, serviceCidr }: Addresses,
): Promise<void> {
  await runCommand(['ip', 'address', 'add', `${hostAddress}/30`, 'dev', `mlk${slot}`])
  await runCommand(['ip', 'link', 'set', `mlk${slot}`, 'up'])
  for (const cidr of [podCidr, serviceCidr]) await runCommand(['ip', 'route', 'add', cidr, 'via', nodeAddress])
}

async function configureNodeEnd(inside: Machine['inside'], { hostAddress, nodeAddress }: Addresses): Promise<void> {
  await runCommand(inside(['ip', 'address', 'add', `${nodeAddress}/30`, 'dev', 'eth0']))
  await runCommand(inside(['ip', 'link', 'set', 'eth0', 'up']))
  await runCommand(inside(['ip', 'route', 'add', 'default', 'via', hostAddress]))
  await runCommand(inside(['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']))
}
