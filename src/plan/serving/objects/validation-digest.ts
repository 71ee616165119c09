/**
 * Digest of what a validation covers: everything that decides what runs, read from the rendered pods. A changed image,
 * command, argument, variable, file, model, checksum, source or identity needs a new validation, and so does a changed pod
 * template. Resources, scheduling, probes and the operator's own image do not.
 *
 * The digest detects changes. It need not resist collisions: users who may edit the spec may also remove the validation.
 */
import { sameJson } from '../../../api/json.ts'
import type { UserPodTemplate } from '../../../api/pod-template.ts'
import { fingerprint } from '../../fingerprint.ts'
import { isGpuEnvironment } from '../../pod/gpu-environment.ts'
import type { ServingConfig } from '../config.ts'
import { filesOf } from './config-map.ts'
import type { WantedVersion } from '../observe/version.ts'
import { FILES_ANNOTATION, FILES_VOLUME, type PodTemplate, SERVER_CONTAINER, serverTemplate } from './pod-template.ts'
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'

export function validationDigest(model: ServedModel, version: ServedVersion, config: ServingConfig): string {
  const { script, image } = model.validation ?? {}
  const content = contentOf(serverTemplate(model, version, config))
  const templates = version.podTemplates.flatMap(templateContent)
  const added = templates.length === 0 ? [] : [templates]
  return fingerprint(JSON.stringify([content, filesOf(model), script, image, ...added]))
}

/** Fields of a pod template that decide where a pod runs, or who pulls its images, but not what it runs. */
const PLACEMENT: readonly string[] = [
  'affinity',
  'imagePullSecrets',
  'nodeSelector',
  'schedulerName',
  'tolerations',
  'topologySpreadConstraints',
]

function templateContent({ spec = {} }: UserPodTemplate): object[] {
  const content = Object.entries(spec).filter(([field]) => !PLACEMENT.includes(field))
  return content.length === 0 ? [] : [Object.fromEntries(content)]
}

/** Their size is the operator's, and the content of files is read from the annotation. */
const OPERATOR_VOLUMES: readonly string[] = ['dshm', 'tmp', FILES_VOLUME]

type Template = Pick<PodTemplate, 'spec'> & { readonly metadata?: Partial<PodTemplate['metadata']> }
type Container = PodTemplate['spec']['containers'][number]

function contentOf({ metadata, spec }: Template) {
  const { containers, initContainers = [], volumes = [], serviceAccountName } = spec
  return {
    serviceAccountName,
    servers: containers.filter(({ name }) => name === SERVER_CONTAINER).map((one) => [one.image, processOf(one)]),
    // The fetching image is the operator's own, and changes with it.
    fetches: initContainers.map(processOf),
    volumes: volumes.filter(({ name }) => !OPERATOR_VOLUMES.includes(name)),
    files: metadata?.annotations?.[FILES_ANNOTATION],
  }
}

/** Without the variable that hides GPUs: it follows from the resources. */
function processOf({ command, args, env: variables = [], envFrom, volumeMounts = [] }: Container) {
  const env = variables.filter((variable) => !isGpuEnvironment(variable))
  const mounts = volumeMounts.map(({ readOnly, ...mount }) => ({ ...mount, ...(readOnly && { readOnly }) }))
  return { command, args, env, envFrom, mounts }
}

/**
 * Digests of earlier releases left out commands, arguments, files, checksums and sources. They stay valid for what already
 * runs, so an upgrade repeats no validation. Anything else is validated again.
 */
export function isCarriedOver(model: ServedModel, version: WantedVersion, config: ServingConfig): boolean {
  const { deployment, recorded, wanted } = version
  const live = deployment?.spec?.template
  if (wanted.podTemplates.length > 0) return false
  if (!live?.spec || recorded?.validated !== earlierDigest(model, wanted)) return false
  const running = { spec: live.spec, ...(live.metadata && { metadata: live.metadata }) } as Template
  return sameJson(contentOf(running), contentOf(serverTemplate(model, wanted, config)))
}

function earlierDigest({ validation, server, modelName }: ServedModel, { uri, image, env }: ServedVersion): string {
  const { script, image: own } = validation ?? {}
  return fingerprint(JSON.stringify([uri, own ?? image, script, modelName, server.model, server.env, env]))
}
