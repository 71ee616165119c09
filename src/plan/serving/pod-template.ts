/**
 * The pods of a version, and that of its validation. They pass Pod Security `restricted`: no root, no privileges, no
 * capabilities; GPUs come from resource limits and need none of them.
 */
import type { Pod } from '../../kube/resources.ts'
import { FILES_DIRECTORY } from '../../api/modelserver.v1.ts'
import { fingerprint } from '../fingerprint.ts'
import { resourcesOf } from '../resources.ts'
import type { ServingConfig } from './config.ts'
import { filesOf } from './config-map.ts'
import { type Container, type ModelSource, modelSource, type Volume, type VolumeMount } from './model-source.ts'
import { configName, modelLabels, serverLabels, ROLE_LABEL } from '../model-names.ts'
import { probesOf } from './probes.ts'
import type { ServedModel, ServedVersion, Variable } from './served-model.ts'
import { validationCommand } from './validation-command.ts'

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

export const SERVER_CONTAINER = 'server'
export const VALIDATION_CONTAINER = 'validate'

/** In the template, so that other files roll out. */
const FILES_ANNOTATION = 'modeldeployment.ml.example.com/files'

/** Until no Service sends here any more; then a server gets as long again as Kubernetes gives to end its requests. */
const LEAVE_SECONDS = 5
const GRACE_SECONDS = 60

interface Subject {
  readonly model: ServedModel
  readonly version: ServedVersion
  readonly config: ServingConfig
  readonly source: ModelSource
}

export function serverTemplate(model: ServedModel, version: ServedVersion, config: ServingConfig): PodTemplate {
  const subject = { model, version, config, source: modelSource(model, version, config) }
  const files = filesOf(model)
  return {
    metadata: {
      labels: { ...modelLabels(model), ...serverLabels(model, version.name) },
      ...(files && { annotations: { [FILES_ANNOTATION]: fingerprint(JSON.stringify(files)) } }),
    },
    spec: {
      ...podSpec(subject, [server(subject)]),
      terminationGracePeriodSeconds: GRACE_SECONDS,
    },
  }
}

/** Runs a script against the model. Its label keeps it out of every Service and every count of servers. */
export function validationTemplate(model: ServedModel, version: ServedVersion, config: ServingConfig): PodTemplate {
  const subject = { model, version, config, source: modelSource(model, version, config) }
  const labels = { ...modelLabels(model), ...serverLabels(model, version.name), [ROLE_LABEL]: 'validation' }
  return {
    metadata: { labels },
    spec: { ...podSpec(subject, [validation(subject)]), restartPolicy: 'Never' },
  }
}

function podSpec(subject: Subject, containers: Container[]): PodTemplate['spec'] {
  const { model, config, source } = subject
  return {
    enableServiceLinks: false,
    ...identityOf(model),
    securityContext: securityContext(config),
    ...schedulingOf(subject),
    ...(source.fetch.length > 0 && { initContainers: [...source.fetch] }),
    containers,
    volumes: volumesOf(subject),
  }
}

function server(subject: Subject): Container {
  const { model, version } = subject
  const { port, command, args } = model.server
  return {
    ...container(subject, SERVER_CONTAINER, version.image),
    ...(command && { command: [...command] }),
    ...(args && { args: [...args] }),
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    ...probesOf(model),
    lifecycle: { preStop: { sleep: { seconds: LEAVE_SECONDS } } },
    // A server that cannot load its model says so last.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
}

function validation(subject: Subject): Container {
  const { model, version } = subject
  const { script = '', image } = model.validation ?? {}
  return {
    ...container(subject, VALIDATION_CONTAINER, image ?? version.image),
    command: validationCommand(script),
    // What it printed last says why it failed.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
}

function container(subject: Subject, name: string, image: string): Container {
  const { version, config } = subject
  return {
    name,
    image,
    env: [...environmentOf(subject)],
    resources: resourcesOf(version.resources, 0, config),
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: mountsOf(subject),
  }
}

/** Ours first, since others may refer to them as `$(MODEL_NAME)`; of two that have the same name the later one counts. */
function environmentOf({ model, version, source }: Subject): readonly Variable[] {
  const own: readonly Variable[] = [
    { name: 'MODEL_NAME', value: model.modelName },
    { name: 'MODEL_PATH', value: source.path },
    { name: 'MODEL_VERSION', value: version.name },
    { name: 'MODEL_URI', value: version.uri },
    ...(model.framework === undefined ? [] : [{ name: 'FRAMEWORK', value: model.framework }]),
    { name: 'PORT', value: String(model.server.port) },
  ]
  const all = [...own, ...(model.server.env ?? []), ...version.env]
  const values = new Map(all.map(({ name, value }) => [name, value]))
  return [...values].map(([name, value]) => ({ name, value }))
}

function mountsOf({ model, source }: Subject): VolumeMount[] {
  const files = filesOf(model) ? [{ name: 'files', mountPath: FILES_DIRECTORY, readOnly: true }] : []
  return [...source.mounts, ...files, { name: 'dshm', mountPath: '/dev/shm' }, { name: 'tmp', mountPath: '/tmp' }]
}

function volumesOf({ model, config, source }: Subject): Volume[] {
  const files = filesOf(model) ? [{ name: 'files', configMap: { name: configName(model) } }] : []
  const memory = { name: 'dshm', emptyDir: { medium: 'Memory', sizeLimit: config.sharedMemory } }
  return [...source.volumes, ...files, memory, { name: 'tmp', emptyDir: {} }]
}

/** A model server has no business with the API server unless it is given an account for it. */
function identityOf({ serviceAccountName, imagePullSecrets }: ServedModel): Partial<PodTemplate['spec']> {
  return {
    ...(serviceAccountName === undefined ? { automountServiceAccountToken: false } : { serviceAccountName }),
    ...(imagePullSecrets && { imagePullSecrets: [...imagePullSecrets] }),
  }
}

function securityContext({ user }: ServingConfig): NonNullable<PodTemplate['spec']['securityContext']> {
  return {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

export function usesGpu({ resources }: ServedVersion, { gpuResource }: ServingConfig): boolean {
  const amount = resources?.limits?.[gpuResource] ?? resources?.requests?.[gpuResource] ?? 0
  return Number(amount) > 0
}

function schedulingOf({ model, version, config }: Subject): Partial<PodTemplate['spec']> {
  const { priorityClassName, nodeSelector, tolerations = [], affinity } = model.scheduling ?? {}
  const all = [...(usesGpu(version, config) ? config.gpuTolerations : []), ...tolerations]
  const wanted: object = {
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(nodeSelector && { nodeSelector }),
    ...(all.length > 0 && { tolerations: all }),
    ...(affinity && { affinity }),
  }
  return wanted
}
