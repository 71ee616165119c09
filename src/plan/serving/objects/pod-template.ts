/** The pods of a version and of its validation. They pass Pod Security `restricted`. */
import type { Pod } from '../../../kube/resources.ts'
import { servingGuards } from '../../../api/pod-guards.ts'
import { FILES_DIRECTORY } from '../../../api/server-paths.ts'
import { withPodTemplates } from '../../pod/pod-template.ts'
import { requestedGpus, resourcesOf } from '../../pod/resources.ts'
import { schedulingOf } from '../../pod/scheduling.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from '../../pod/security-context.ts'
import { serviceAccountOf } from '../../pod/service-account.ts'
import { sharedMemoryMount, sharedMemoryVolume } from '../../pod/shared-memory.ts'
import type { ServingConfig } from '../config.ts'
import { filesDigest, filesOf } from './config-map.ts'
import { environmentOf, environmentSourcesOf } from './environment.ts'
import { type Container, type ModelSource, modelSource, type Volume, type VolumeMount } from './model-source.ts'
import { filesName, HTTP_PORT_NAME, modelLabels, serverLabels, ROLE_LABEL } from '../../model-names.ts'
import { placementOf } from './placement.ts'
import { probesOf } from './probes.ts'
import type { ServedModel, ServedVersion } from '../observe/served-model.ts'
import { addedMounts, addedVolumes } from './added-volumes.ts'
import { validationCommand } from './validation-command.ts'
import { forValidation, VALIDATION_CONTAINER, validationGuards } from './validation-pod.ts'

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string>; readonly annotations?: Record<string, string> }
  readonly spec: NonNullable<Pod['spec']>
}

export const SERVER_CONTAINER = servingGuards.container.name
export const FILES_VOLUME = 'files'

/** In the template, so that changed files roll out. */
export const FILES_ANNOTATION = 'modeldeployment.ml.example.com/files'

/** Until no Service sends requests here. Then the server finishes its requests within the grace period. */
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
  const rendered: PodTemplate = {
    metadata: {
      labels: { ...modelLabels(model, 'server', version.name), ...serverLabels(model, version.name) },
      ...(files && { annotations: { [FILES_ANNOTATION]: filesDigest(files) } }),
    },
    spec: {
      ...podSpec(subject, [server(subject)]),
      terminationGracePeriodSeconds: GRACE_SECONDS,
    },
  }
  return withPodTemplates(rendered, version.podTemplates, servingGuards)
}

/** Runs a script against the model. Its role label keeps it out of every Service and every count of server pods. */
export function validationTemplate(model: ServedModel, version: ServedVersion, config: ServingConfig): PodTemplate {
  const subject = { model, version, config, source: modelSource(model, version, config) }
  const own = serverLabels(model, version.name)
  const rendered: PodTemplate = {
    metadata: { labels: { ...modelLabels(model, 'validation', version.name), ...own, [ROLE_LABEL]: 'validation' } },
    spec: { ...podSpec(subject, [validation(subject)]), restartPolicy: 'Never' },
  }
  return withPodTemplates(rendered, version.podTemplates.map(forValidation), validationGuards)
}

function podSpec(subject: Subject, containers: Container[]): PodTemplate['spec'] {
  const { model, version, config, source } = subject
  const usesGpus = requestedGpus(version.resources, config.gpuResource) > 0
  return {
    enableServiceLinks: false,
    ...serviceAccountOf(model),
    securityContext: restrictedPodSecurity(config.user, { fsGroupChangePolicy: 'OnRootMismatch' }),
    ...schedulingOf(placementOf(model), usesGpus, config),
    ...(source.fetch.length > 0 && { initContainers: [...source.fetch] }),
    containers,
    volumes: volumesOf(subject),
  }
}

function server(subject: Subject): Container {
  const { model, version } = subject
  const { port, command, args: own = [] } = model.server
  const args = [...own, ...version.args]
  return {
    ...container(subject, SERVER_CONTAINER, version.image),
    ...(command && { command: [...command] }),
    ...(args.length > 0 && { args }),
    ports: [{ name: HTTP_PORT_NAME, containerPort: port, protocol: 'TCP' }],
    ...probesOf(model),
    lifecycle: { preStop: { sleep: { seconds: LEAVE_SECONDS } } },
    // A server that cannot load its model usually logs the cause last.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
}

function validation(subject: Subject): Container {
  const { model, version } = subject
  const { script = '', image } = model.validation ?? {}
  return {
    ...container(subject, VALIDATION_CONTAINER, image ?? version.image),
    command: validationCommand(script),
    // The last output usually is the cause of the failure.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }
}

function container(subject: Subject, name: string, image: string): Container {
  const { version, config } = subject
  const resources = resourcesOf(version.resources, 0, config)
  return {
    name,
    image,
    env: environmentOf(subject, resources),
    ...environmentSourcesOf(subject),
    resources,
    securityContext: restrictedContainerSecurity(),
    volumeMounts: mountsOf(subject),
  }
}

function mountsOf({ model, version, source }: Subject): VolumeMount[] {
  const files = filesOf(model) ? [{ name: FILES_VOLUME, mountPath: FILES_DIRECTORY, readOnly: true }] : []
  const own = [sharedMemoryMount, { name: 'tmp', mountPath: '/tmp' }]
  return [...source.mounts, ...files, ...own, ...addedMounts(model, version)]
}

function volumesOf({ model, version, config, source }: Subject): Volume[] {
  const data = filesOf(model)
  const files = data ? [{ name: FILES_VOLUME, configMap: { name: filesName(model, filesDigest(data)) } }] : []
  const own = [sharedMemoryVolume(config.sharedMemory), { name: 'tmp', emptyDir: {} }]
  return [...source.volumes, ...files, ...own, ...addedVolumes(model, version)]
}
