/**
 * The configuration of the router's HAProxy. The same for every model: the agent sets the versions, their addresses and
 * weights at run time, so this file never changes while HAProxy runs.
 *
 * - One server per version, weighted round robin: the split is exact.
 * - A failed connection is retried for as long as endpoints of a dead pod may linger, with another version at once if there
 *   is one. A request that was sent is never sent again: one that crashes a server must not crash the next. The failed try
 *   counts against the version that failed, whichever version answers.
 * - Until the agent has configured a version, requests go to a backup server at an address where nothing listens. So they
 *   are retried, and reach the first version that is configured.
 * - Every request has a connection of its own to the version: requests, not connections, are spread over its pods, new pods
 *   get their share at once, and a retry is never tied to the connection that failed.
 */
import { REQUEST_LOG_FORMAT, REQUEST_LOG_PORT, ROUTER_BACKEND, ROUTER_NOBODY } from '../../../../api/router-wire.ts'

/** Where HAProxy listens. Unprivileged. */
export const ROUTER_PORT = 8080

export const ROUTER_SOCKET = '/run/router/haproxy.sock'

export interface HaproxySettings {
  readonly port: number
  readonly socket: string
  readonly logPort: number
}

export function haproxyConfig({ port, socket, logPort }: HaproxySettings = routerSettings): string {
  return `global
  stats socket ${socket} mode 600 level admin
  maxconn 4000
  nbthread 2
  hard-stop-after 45s

ring requests
  format raw
  maxlen 512
  size 1048576
  timeout connect 1s
  timeout server 10s
  server agent 127.0.0.1:${logPort}

defaults
  mode http
  timeout connect 500ms
  timeout client 600s
  timeout server 600s
  timeout http-request 60s
  timeout http-keep-alive 60s
  retries 10
  retry-on conn-failure
  option redispatch 1

frontend model
  bind :${port}
  log ring@requests format raw local0
  log-format "${REQUEST_LOG_FORMAT}"
  default_backend ${ROUTER_BACKEND}

backend ${ROUTER_BACKEND}
  balance roundrobin
  option http-server-close
  server ${ROUTER_NOBODY} 127.0.0.1:1 backup
`
}

const routerSettings: HaproxySettings = { port: ROUTER_PORT, socket: ROUTER_SOCKET, logPort: REQUEST_LOG_PORT }
