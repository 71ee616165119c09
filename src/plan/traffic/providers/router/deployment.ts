/**
 * The router's pods: HAProxy, and the agent that configures it through a socket in a shared directory. They pass Pod
 * Security `restricted`, write only to that directory, and have no service account.
 *
 * A terminating pod first leaves the Service, then finishes its requests. HAProxy drains on SIGUSR1 and stops at once on
 * SIGTERM, so the preStop hook sends SIGUSR1.
 */
import { REPORT_PORT, ROUTE_ANNOTATION } from '../../../../api/router-report.ts'
import { REQUEST_LOG_PORT } from '../../../../api/router-wire.ts'
import { Deployment } from '../../../../kube/resources.ts'
import { fingerprint } from '../../../fingerprint.ts'
import { HTTP_PORT_NAME } from '../../../model-names.ts'
import { modelObject } from '../../../model-object.ts'
import { gpuEnvironment } from '../../../pod/gpu-environment.ts'
import { restrictedContainerSecurity, restrictedPodSecurity } from '../../../pod/security-context.ts'
import { serviceAccountOf } from '../../../pod/service-account.ts'
import type { AgentConfig, TrafficTarget } from '../../contract.ts'
import { named } from '../route-object.ts'
import type { RouterConfig } from './config.ts'
import { ROUTER_PORT, ROUTER_SOCKET } from './haproxy-config.ts'
import { routerName, routerPods } from './names.ts'

export const HAPROXY_FILE = 'haproxy.cfg'
export const INITIAL_ROUTE_FILE = 'route.json'

/** In the template, so that a changed configuration rolls out. */
const CONFIG_ANNOTATION = 'modeldeployment.ml.example.com/router-config'

const CONFIG_DIRECTORY = '/etc/router'
const ROUTE_DIRECTORY = '/etc/route'
const SOCKET_DIRECTORY = '/run/router'

/** Until no Service sends requests here, and until the last request has ended. */
const LEAVE_SECONDS = 5
const GRACE_SECONDS = 60

const USER = 65532

type Target = TrafficTarget<RouterConfig & AgentConfig>

export function routerDeployment(target: Target, haproxyConfig: string): Deployment {
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
            [CONFIG_ANNOTATION]: fingerprint(haproxyConfig),
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
    securityContext: restrictedPodSecurity(USER),
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: routerPods(target) },
      },
    ],
    containers: [haproxy(target), agent(target)],
    volumes: volumes(target),
  }
}

function haproxy({ config }: Target): PodSpec['containers'][number] {
  const leave = `sleep ${LEAVE_SECONDS}; kill -USR1 1; sleep ${GRACE_SECONDS}`
  return {
    name: 'haproxy',
    image: config.routerImage,
    command: ['haproxy', '-db', '-f', `${CONFIG_DIRECTORY}/${HAPROXY_FILE}`],
    ports: [{ name: HTTP_PORT_NAME, containerPort: ROUTER_PORT, protocol: 'TCP' }],
    env: gpuEnvironment(config.routerResources),
    resources: config.routerResources,
    livenessProbe: { tcpSocket: { port: HTTP_PORT_NAME }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    lifecycle: { preStop: { exec: { command: ['sh', '-c', leave] } } },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      { name: 'socket', mountPath: SOCKET_DIRECTORY },
    ],
    securityContext: containerSecurity,
  }
}

/**
 * Ready once HAProxy splits the traffic as the route says: until then the pod gets none. Restarting the agent costs no
 * request: HAProxy keeps serving.
 */
function agent({ config }: Target): PodSpec['containers'][number] {
  return {
    name: 'agent',
    image: config.agentImage,
    args: [
      'agent',
      'router',
      `--route=${ROUTE_DIRECTORY}/route`,
      `--initial-route=${CONFIG_DIRECTORY}/${INITIAL_ROUTE_FILE}`,
      `--socket=${ROUTER_SOCKET}`,
      `--port=${REPORT_PORT}`,
      `--log-port=${REQUEST_LOG_PORT}`,
    ],
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
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      { name: 'route', mountPath: ROUTE_DIRECTORY, readOnly: true },
      { name: 'socket', mountPath: SOCKET_DIRECTORY },
    ],
    securityContext: containerSecurity,
  }
}

const containerSecurity = restrictedContainerSecurity({ readOnlyRootFilesystem: true })

function volumes(target: TrafficTarget): NonNullable<PodSpec['volumes']> {
  const route = {
    path: 'route',
    fieldRef: { apiVersion: 'v1', fieldPath: `metadata.annotations['${ROUTE_ANNOTATION}']` },
  }
  return [
    { name: 'config', configMap: { name: routerName(named(target)) } },
    { name: 'route', downwardAPI: { items: [route] } },
    { name: 'socket', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
  ]
}
