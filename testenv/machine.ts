/**
 * The machine that the node runs on: a network and a mount namespace, held by one sleeping process and linked to
 * the host by a pair of virtual Ethernet devices. Bridges, routes, iptables chains, pod network namespaces and mounts
 * all live inside, so the host's own network is never touched and everything vanishes with the last process.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { runCommand } from './command.ts'
import { Component, reportDeath } from './component.ts'
import { subdirectory } from './run-directory.ts'

export interface Machine {
  readonly holder: Component
  /** The host's end of the link: where the API server listens. */
  readonly hostAddress: string
  /** The node's InternalIP. */
  readonly nodeAddress: string
  readonly podCidr: string
  readonly serviceCidr: string
  /** The command, run inside. The process id stays the command's own. */
  inside(command: readonly string[]): string[]
}

/** Slots let several nodes share the address ranges reserved for tests, 198.18.0.0/15. */
const SLOTS = 99

/** Where node programs write outside of the paths they are told; inside, these are empty and private. */
const PRIVATE_DIRECTORIES = ['/run', '/var/log', '/var/lib']

export async function startMachine(runDirectory: string, keep: readonly string[]): Promise<Machine> {
  const ready = join(runDirectory, 'machine-ready')
  const holder = new Component(
    runDirectory,
    {
      name: 'machine',
      command: [
        'unshare',
        '--net',
        '--mount',
        '--propagation',
        'private',
        'sh',
        '-c',
        holderScript(runDirectory, keep),
      ],
      ready: async () => existsSync(ready),
    },
    reportDeath,
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

/** Directories with binaries are mounted back where a private one would hide them. */
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
