/**
 * The router's pods: Envoy, and the agent that configures it through files in a shared directory. They pass Pod Security
 * `restricted`, write only to that directory, and have no service account.
 *
 * Envoy needs the files to start, so an init container writes the first ones. They outlive a restart of Envoy, which then
 * starts with its route.
 *
 * A terminating pod first leaves the Service, then finishes its requests. Envoy stops at once on SIGTERM, so the preStop
 * hook asks the agent to end Envoy, and waits for that.
 */
import { REPORT_PORT, ROUTE_ANNOTATION } from '../../../../api/router-report.ts'
import { ROUTER_FILES } from '../../../../api/router-wire.ts'
import { Deployment } from '../../../../kube/resources.ts'
import { fingerprint } from '../../../fingerprint.ts'
import { HTTP_PORT_NAME } from '../../../model-names.ts'
import { modelObject } from '../../../model-object.ts'
import { gpuEnvironment } from '../../../pod/gpu-environment.ts'
import { CLUSTER_USER, restrictedContainerSecurity, restrictedPodSecurity } from '../../../pod/security-context.ts'
import { serviceAccountOf } from '../../../pod/service-account.ts'
import type { AgentConfig, PodUserConfig, TrafficTarget } from '../../contract.ts'
import { named } from '../route-object.ts'
import type { RouterConfig } from './config.ts'
import { ROUTER_DIRECTORY, ROUTER_PORT } from './envoy-config.ts'
import { routerConfigName, routerName, routerPods } from './names.ts'

export const ENVOY_FILE = 'envoy.json'
export const INITIAL_ROUTE_FILE = 'route.json'

/** In the template, so that a changed configuration rolls out. */
const CONFIG_ANNOTATION = 'modeldeployment.ml.example.com/router-config'

const CONFIG_DIRECTORY = '/etc/router'
const ROUTE_DIRECTORY = '/etc/route'

/** Until no Service sends requests here, and until the last request has ended. */
const GRACE_SECONDS = 60

const USER = 65532

type Target = TrafficTarget<RouterConfig & AgentConfig & PodUserConfig>

export function routerDeployment(target: Target, envoyConfig: string): Deployment {
  const { config } = target
  const selector = routerPods(target)
  return {
    ...modelObject(target, Deployment, routerName(named(target))),
    spec: {
      replicas: config.routerReplicas,
      selector: { matchLabels: selector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: {
          labels: { ...target.labels, ...selector },
          annotations: {
            [CONFIG_ANNOTATION]: fingerprint(envoyConfig),
            'prometheus.io/scrape': 'true',
            'prometheus.io/port': String(REPORT_PORT),
          },
        },
        spec: podSpec(target),
      },
    },
  }
}

type PodSpec = NonNullable<NonNullable<Deployment['spec']>['template']['spec']>

function podSpec(target: Target): PodSpec {
  return {
    ...serviceAccountOf({}),
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    securityContext: restrictedPodSecurity(target.config.user === CLUSTER_USER ? CLUSTER_USER : USER),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: routerPods(target) },
      },
    ],
    initContainers: [files(target)],
    containers: [envoy(target), agent(target)],
    volumes: volumes(target),
  }
}

function envoy({ config }: Target): PodSpec['containers'][number] {
  const leave = `touch ${ROUTER_DIRECTORY}/${ROUTER_FILES.leave}; sleep ${GRACE_SECONDS}`
  return {
    name: 'envoy',
    image: config.routerImage,
    command: [
      'envoy',
      '--config-path',
      `${CONFIG_DIRECTORY}/${ENVOY_FILE}`,
      '--concurrency',
      '1',
      '--disable-hot-restart',
      '--log-level',
      'warn',
    ],
    ports: [{ name: HTTP_PORT_NAME, containerPort: ROUTER_PORT, protocol: 'TCP' }],
    env: gpuEnvironment(config.routerResources),
    resources: config.routerResources,
    livenessProbe: { tcpSocket: { port: HTTP_PORT_NAME }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    lifecycle: { preStop: { exec: { command: ['sh', '-c', leave] } } },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      { name: 'shared', mountPath: ROUTER_DIRECTORY },
    ],
    securityContext: containerSecurity,
  }
}

/** Writes the files that Envoy needs to start. */
function files({ config }: Target): PodSpec['containers'][number] {
  return {
    name: 'files',
    image: config.agentImage,
    args: [...AGENT, '--prepare'],
    env: gpuEnvironment(config.routerResources),
    resources: config.routerResources,
    volumeMounts: agentMounts,
    securityContext: containerSecurity,
  }
}

/**
 * Ready once Envoy splits the traffic as the route says: until then the pod gets none. Restarting the agent costs no
 * request: Envoy keeps serving.
 */
function agent({ config }: Target): PodSpec['containers'][number] {
  return {
    name: 'agent',
    image: config.agentImage,
    args: [...AGENT, `--port=${REPORT_PORT}`],
    ports: [{ name: 'report', containerPort: REPORT_PORT, protocol: 'TCP' }],
    env: gpuEnvironment(config.routerResources),
    resources: config.routerResources,
    livenessProbe: {
      httpGet: { path: '/healthz', port: 'report' },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    },
    readinessProbe: {
      httpGet: { path: '/readyz', port: 'report' },
      periodSeconds: 1,
      timeoutSeconds: 2,
      failureThreshold: 3,
    },
    volumeMounts: agentMounts,
    securityContext: containerSecurity,
  }
}

const AGENT = [
  'agent',
  'router',
  `--route=${ROUTE_DIRECTORY}/route`,
  `--initial-route=${CONFIG_DIRECTORY}/${INITIAL_ROUTE_FILE}`,
  `--directory=${ROUTER_DIRECTORY}`,
]

const agentMounts = [
  { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
  { name: 'route', mountPath: ROUTE_DIRECTORY, readOnly: true },
  { name: 'shared', mountPath: ROUTER_DIRECTORY },
]

const containerSecurity = restrictedContainerSecurity({ readOnlyRootFilesystem: true })

function volumes(target: TrafficTarget): NonNullable<PodSpec['volumes']> {
  const route = {
    path: 'route',
    fieldRef: { apiVersion: 'v1', fieldPath: `metadata.annotations['${ROUTE_ANNOTATION}']` },
  }
  return [
    { name: 'config', configMap: { name: routerConfigName(named(target)) } },
    { name: 'route', downwardAPI: { items: [route] } },
    { name: 'shared', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
  ]
}
