/**
 * StorageClasses with volumes on the host's disk: `standard`, the default, for all access modes, and `block`, which offers
 * ReadWriteOnce only, as block storage does.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { Component } from './component.ts'
import type { ControlPlane } from './control-plane.ts'
import { subdirectory } from './run-directory.ts'

export const PROVISIONER = 'testenv.ml.example.com/host-directory'

export const BLOCK_CLASS = 'block'
export const IS_DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

const storageClass = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations },
  provisioner: PROVISIONER,
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'Immediate',
})

export async function startStorage(plane: ControlPlane, onExit: (error: Error) => void): Promise<Component> {
  await plane.kubectl.with(
    [storageClass('standard', { [IS_DEFAULT_CLASS]: 'true' }), storageClass(BLOCK_CLASS)],
    'create',
  )
  const ready = join(plane.runDirectory, 'provisioner-ready')
  const volumes = subdirectory(plane.runDirectory, 'volumes')
  const kubeconfig = plane.kubeconfigFor({ name: 'provisioner', organization: 'system:masters' })
  const command = [process.execPath, join(import.meta.dirname, 'provisioner.ts'), kubeconfig, volumes, ready]
  const component = new Component(
    plane.runDirectory,
    { name: 'provisioner', command, ready: async () => existsSync(ready) },
    onExit,
  )
  return component.start()
}
