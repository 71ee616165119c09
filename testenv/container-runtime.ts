/** containerd with runc, which writes only into the run directory. */

import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Binaries } from './binaries.ts'
import { runCommand } from './command.ts'
import { Component } from './component.ts'
import { buildImage, type Image } from './image.ts'
import type { Machine } from './machine.ts'
import { subdirectory } from './run-directory.ts'

const BUSYBOX = '/bin/busybox'
const PAUSE_IMAGE = 'testenv/pause:1'

export function containerdComponent(
  runDirectory: string,
  machine: Machine,
  binaries: Binaries,
  onExit: (error: Error) => void,
): Component {
  const config = join(runDirectory, 'containerd.toml')
  writeFileSync(config, containerdConfig(runDirectory, binaries, writeCniConfig(runDirectory, machine, binaries)))
  return new Component(
    runDirectory,
    {
      name: 'containerd',
      command: machine.inside([binaries.path('containerd'), '--config', config]),
      env: { PATH: `${dirname(binaries.path('containerd'))}:${process.env['PATH']}` },
      ready: async () => (await ctr(binaries, runDirectory, 'version')).includes('Server'),
    },
    onExit,
  )
}

/** Imports an image into the node of a run. Needs only the socket, so any process can call it. */
export async function loadImage(binaries: Binaries, runDirectory: string, image: Image): Promise<void> {
  await ctr(binaries, runDirectory, 'images', 'import', '--local', image.archive)
}

async function ctr(binaries: Binaries, runDirectory: string, ...args: string[]): Promise<string> {
  return runCommand([binaries.path('ctr'), '--address', socketOf(runDirectory), '--namespace', 'k8s.io', ...args])
}

export function socketOf(runDirectory: string): string {
  return join(runDirectory, 'containerd.sock')
}

/** The image of the pause container, which holds a pod's namespaces open. */
export async function pauseImage(): Promise<Image> {
  return buildImage({
    name: PAUSE_IMAGE,
    files: { '/pause': { copyOf: BUSYBOX, mode: 0o755 }, '/bin/sleep': { linkTo: '/pause' } },
    command: ['/bin/sleep', 'infinity'],
  })
}

function containerdConfig(runDirectory: string, binaries: Binaries, cniDirectories: CniDirectories): string {
  const directory = (...parts: string[]): string => JSON.stringify(subdirectory(runDirectory, 'containerd', ...parts))
  return `
version = 3
root = ${directory('root')}
state = ${directory('state')}
disabled_plugins = ["io.containerd.nri.v1.nri", "io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]

[grpc]
  address = ${JSON.stringify(socketOf(runDirectory))}

[plugins.'io.containerd.internal.v1.opt']
  path = ${directory('opt')}

[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "${PAUSE_IMAGE}"

[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = [${JSON.stringify(cniDirectories.binaries)}]
    conf_dir = ${JSON.stringify(cniDirectories.config)}
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = ${JSON.stringify(binaries.path('runc'))}
        SystemdCgroup = false
`
}

interface CniDirectories {
  readonly binaries: string
  readonly config: string
}

/** One bridge. The host has routes to its pods, so nothing is masqueraded. */
function writeCniConfig(runDirectory: string, machine: Machine, binaries: Binaries): CniDirectories {
  const config = subdirectory(runDirectory, 'cni')
  const network = {
    cniVersion: '1.0.0',
    name: 'testenv',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: subdirectory(runDirectory, 'cni-leases'),
          ranges: [[{ subnet: machine.podCidr }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  }
  writeFileSync(join(config, '10-testenv.conflist'), JSON.stringify(network))
  return { binaries: dirname(binaries.path('bridge')), config }
}
