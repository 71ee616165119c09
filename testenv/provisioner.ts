/**
 * The provisioner of our StorageClasses, as a process: creates a directory on the host for each claim, and removes it when
 * the volume is released. Works from watches, so it can be restarted at any time.
 */

import { writeFileSync } from 'node:fs'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { type Client, createClient } from '../src/kube/client.ts'
import { configFromKubeconfig } from '../src/kube/config.ts'
import { isAlreadyExists } from '../src/kube/errors.ts'
import type { KubeObject, Resource } from '../src/kube/object.ts'
import { watch } from '../src/kube/watch.ts'
import { BLOCK_CLASS, PROVISIONER } from './storage.ts'

interface Claim extends KubeObject {
  readonly spec: {
    readonly accessModes: readonly string[]
    readonly resources: { readonly requests: { readonly storage: string } }
    readonly storageClassName?: string
    readonly volumeMode?: string
    readonly volumeName?: string
  }
}

interface Volume extends KubeObject {
  readonly spec: {
    readonly hostPath?: { readonly path: string; readonly type?: string }
    readonly [field: string]: unknown
  }
  readonly status?: { readonly phase?: string }
}

const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'
const REQUESTED_FROM = 'volume.kubernetes.io/storage-provisioner'

const claims: Resource<Claim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
}
const volumes: Resource<Volume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
}

interface Event extends KubeObject {
  readonly involvedObject: Readonly<Record<string, string>>
  readonly type: string
  readonly reason: string
  readonly message: string
}

const events: Resource<Event> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }

async function provision(client: Client, directory: string, claim: Claim): Promise<void> {
  const wanted = claim.metadata.annotations?.[REQUESTED_FROM] === PROVISIONER
  if (!wanted || claim.spec.volumeName !== undefined || claim.metadata.deletionTimestamp !== undefined) return
  const shared = claim.spec.accessModes.filter((mode) => mode !== 'ReadWriteOnce')
  if (claim.spec.storageClassName === BLOCK_CLASS && shared.length > 0) return refuse(client, claim, shared)
  const volume = volumeFor(claim, directory)
  const path = join(directory, volume.metadata.name)
  await mkdir(path, { recursive: true })
  // Pods of any user write here, because fsGroup does not apply to a host directory.
  await chmod(path, 0o777)
  await client.create(volumes, volume).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
}

/** Block storage cannot be mounted on several nodes. Reported once, as other provisioners do. */
async function refuse(client: Client, { metadata }: Claim, modes: readonly string[]): Promise<void> {
  const { name, namespace = '', uid = '', resourceVersion } = metadata
  const event: Event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${uid}`, namespace },
    involvedObject: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      name,
      namespace,
      uid,
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    type: 'Warning',
    reason: 'ProvisioningFailed',
    message: `failed to provision volume with StorageClass "${BLOCK_CLASS}": access mode ${modes.join(', ')} is not supported`,
  }
  await client.create(events, event).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error
  })
}

function volumeFor(claim: Claim, directory: string): Volume {
  const { name, namespace, uid } = claim.metadata
  const volume = `pvc-${uid}`
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume, annotations: { [PROVISIONED_BY]: PROVISIONER } },
    spec: {
      accessModes: claim.spec.accessModes,
      capacity: { storage: claim.spec.resources.requests.storage },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      hostPath: { path: join(directory, volume), type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: claim.spec.storageClassName,
      volumeMode: claim.spec.volumeMode,
    },
  }
}

async function reclaim(client: Client, volume: Volume): Promise<void> {
  const ours = volume.metadata.annotations?.[PROVISIONED_BY] === PROVISIONER
  const path = volume.spec.hostPath?.path
  if (!ours || path === undefined || volume.status?.phase !== 'Released') return
  await rm(path, { recursive: true, force: true })
  await client.delete(volumes, { name: volume.metadata.name })
}

/** Calls `act` for every object that appears or changes. A failure is logged and retried at the next change. */
async function follow<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  act: (object: T) => Promise<void>,
  onSync: () => void,
): Promise<void> {
  for await (const update of watch(client, resource, { signal: new AbortController().signal })) {
    const objects = update.type === 'replace' ? update.items : update.type === 'apply' ? [update.object] : []
    for (const object of objects) await act(object).catch((error: unknown) => console.error(error))
    if (update.type === 'replace') onSync()
  }
}

if (import.meta.main) {
  const [, , kubeconfig = '', directory = '', ready = ''] = process.argv
  const client = createClient(await configFromKubeconfig(kubeconfig))
  await Promise.all([
    follow(
      client,
      claims,
      (claim) => provision(client, directory, claim),
      () => writeFileSync(ready, ''),
    ),
    follow(
      client,
      volumes,
      (volume) => reclaim(client, volume),
      () => {},
    ),
  ])
}
