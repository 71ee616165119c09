/**
 * How a model gets into its pods. From an object store or the web, the agent fetches it in an init container with the
 * identity of the pod: into the pod itself, or onto a claim that all pods share as a cache. A claim that already holds the
 * model, or an image that consists of it, is mounted read-only. A model in the image of the server needs nothing.
 */
import type { Pod } from '../../../kube/resources.ts'
import { fingerprint } from '../../fingerprint.ts'
import { gpuEnvironment } from '../../pod/gpu-environment.ts'
import { restrictedContainerSecurity } from '../../pod/security-context.ts'
import type { ServingConfig } from '../config.ts'
import { fetchFiles } from './fetch-files.ts'
import { cacheClaimName } from '../../model-names.ts'
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import { modelImage, type Volume } from './image-volume.ts'
import { fileIn, volumePath } from './volume-path.ts'

type PodSpec = NonNullable<Pod['spec']>
export type Container = PodSpec['containers'][number]
export type { Volume } from './image-volume.ts'
export type VolumeMount = NonNullable<Container['volumeMounts']>[number]

export interface ModelSource {
  /** `MODEL_PATH`: the file, directory or repository to serve. */
  readonly path: string
  readonly volumes: readonly Volume[]
  readonly mounts: readonly VolumeMount[]
  readonly fetch: readonly Container[]
}

export const FETCH_CONTAINER = 'model-fetch'
export const MODEL_VOLUME = 'model'
const CACHE_DIRECTORY = '/cache'

const CLAIM = /^pvc:\/\/([^/]+)\/?(.*)$/

export function modelSource(model: ServedModel, version: ServedVersion, config: ServingConfig): ModelSource {
  const { uri } = version
  if (uri.startsWith('/')) return { path: uri, volumes: [], mounts: [], fetch: [] }
  const [, claim, inside = ''] = CLAIM.exec(uri) ?? []
  if (claim !== undefined) return fromVolume(model, { persistentVolumeClaim: claimOf(claim) }, inside)
  const image = modelImage(version)
  if (image) return fromVolume(model, { image: { reference: image.reference } }, image.inside)
  const shared = cacheOf(model)
  return shared === undefined ? intoPod(model, version, config) : ontoClaim(model, { version, config, claim: shared })
}

/** The claim that caches fetched models, if there is one. */
export function cacheOf({ metadata, storage }: ServedModel): string | undefined {
  if (storage?.claimName !== undefined) return storage.claimName
  return storage?.size === undefined ? undefined : cacheClaimName({ metadata })
}

const claimOf = (claimName: string) => ({ claimName, readOnly: true })

/** Mounted read-only and never copied, so all versions may use the same claim or image. */
function fromVolume({ server }: ServedModel, source: Omit<Volume, 'name'>, inside: string): ModelSource {
  const { mountPath } = server.model
  const { file, directory } = volumePath(inside)
  return {
    path: file === '' ? mountPath : `${mountPath}/${file}`,
    volumes: [{ name: MODEL_VOLUME, ...source }],
    mounts: [{ name: MODEL_VOLUME, mountPath, readOnly: true, ...(directory !== '' && { subPath: directory }) }],
    fetch: [],
  }
}

function intoPod(model: ServedModel, version: ServedVersion, config: ServingConfig): ModelSource {
  const { mountPath, readOnly } = model.server.model
  const place = { mount: { name: MODEL_VOLUME, mountPath }, directory: mountPath }
  return {
    path: pathOf(model, version),
    volumes: [{ name: MODEL_VOLUME, emptyDir: {} }, ...filesFor(model).volumes],
    mounts: [{ name: MODEL_VOLUME, mountPath, readOnly }],
    fetch: [{ ...fetchContainer(model, config), ...fetching(model, version, place) }],
  }
}

interface Onto {
  readonly version: ServedVersion
  readonly config: ServingConfig
  readonly claim: string
}

/** One directory per artifact, so a new one never disturbs pods that serve an older one. */
function ontoClaim(model: ServedModel, { version, config, claim }: Onto): ModelSource {
  const { mountPath, layout } = model.server.model
  // A directory holds the same files as at the source, so it shares them with `file`.
  const files = layout === 'directory' ? 'file' : layout
  const artifact = fingerprint([version.uri, files, version.checksum].join(' '))
  const subPath = `${model.modelName.replaceAll(/[^A-Za-z0-9-]/g, '-')}-${artifact}`
  const place = {
    mount: { name: MODEL_VOLUME, mountPath: CACHE_DIRECTORY },
    directory: `${CACHE_DIRECTORY}/${subPath}`,
  }
  return {
    path: pathOf(model, version),
    volumes: [{ name: MODEL_VOLUME, persistentVolumeClaim: { claimName: claim } }, ...filesFor(model).volumes],
    mounts: [{ name: MODEL_VOLUME, mountPath, subPath, readOnly: true }],
    fetch: [{ ...fetchContainer(model, config), ...fetching(model, version, place) }],
  }
}

interface Place {
  readonly mount: VolumeMount
  readonly directory: string
}

function fetching(model: ServedModel, { uri, checksum }: ServedVersion, { mount, directory }: Place) {
  const { layout } = model.server.model
  const shape = layout === 'repository' ? [`--layout=${layout}`, `--model-name=${model.modelName}`] : []
  const content = checksum === undefined ? [] : [`--checksum=${checksum}`]
  return {
    args: ['agent', 'fetch', `--uri=${uri}`, `--to=${directory}`, ...shape, ...content],
    volumeMounts: [mount, ...filesFor(model).volumeMounts],
  }
}

const filesFor = ({ storage }: ServedModel) => fetchFiles(storage ?? {})

function fetchContainer(model: ServedModel, config: ServingConfig): Container {
  const { storage } = model
  return {
    name: FETCH_CONTAINER,
    image: config.agentImage,
    ...(storage?.secretName !== undefined && { envFrom: [{ secretRef: { name: storage.secretName } }] }),
    env: [...filesFor(model).env, ...gpuEnvironment(config.fetchResources)],
    resources: config.fetchResources,
    securityContext: restrictedContainerSecurity({ readOnlyRootFilesystem: true }),
  }
}

/** A repository is served as a whole. The name of a single file follows from the URI. */
function pathOf({ server: { model } }: ServedModel, { uri }: ServedVersion): string {
  if (model.layout === 'repository') return model.mountPath
  const [path = ''] = uri.split(/[?#]/)
  const file = uri.startsWith('hf://') ? '' : fileIn(path)
  return file === '' ? model.mountPath : `${model.mountPath}/${file}`
}

/** Whether the URI names a single file: https always does, other sources by the extension. A model of the Hub is a directory. */
export function isSingleFile(uri: string): boolean {
  if (uri.startsWith('hf://')) return false
  const [path = ''] = uri.split(/[?#]/)
  return /^https?:/.test(uri) || fileIn(modelImage({ uri })?.inside ?? path) !== ''
}
