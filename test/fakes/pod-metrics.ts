/** A server of `metrics.k8s.io` that gives every pod the memory usage of the test, so that a real HPA scales by it. */
import { createServer, type Server } from 'node:https'
import type { Client } from '../../src/kube/client.ts'
import type { Resource } from '../../src/kube/object.ts'
import { Pod, Service } from '../../src/kube/resources.ts'
import { createCa, issue } from '../../src/kube/x509.ts'
import { listen } from '../../src/net/listening.ts'

const GROUP = 'metrics.k8s.io'
const VERSION = 'v1beta1'
const NAME = 'pod-metrics'
const NAMESPACE = 'kube-system'

const APIService: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  plural: 'apiservices',
  kind: 'APIService',
  namespaced: false,
}

export class PodMetrics {
  /** Memory of each pod. */
  usage = '0'
  /** The label selectors of requests. */
  readonly selectors = new Set<string>()
  readonly #client: Client
  readonly #server: Server

  constructor(client: Client) {
    this.#client = client
    const notAfter = new Date(Date.now() + 3_600_000)
    const ca = createCa({ commonName: NAME, notAfter })
    const leaf = issue(ca, { commonName: NAME, dnsNames: ['localhost'], usages: ['server'], notAfter })
    this.#server = createServer(leaf, (request, response) => {
      void this.#answer(new URL(request.url ?? '/', 'https://localhost')).then((body) => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(body))
      })
    })
  }

  /** Serves the API of this cluster, which must be the test's own: an API that ends blocks the deletion of namespaces. */
  async start(): Promise<void> {
    const port = await listen(this.#server, { port: 0, host: 'localhost' })
    const metadata = { name: NAME, namespace: NAMESPACE }
    const spec = { type: 'ExternalName', externalName: 'localhost' }
    await this.#client.create(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec })
    const service = { name: NAME, namespace: NAMESPACE, port }
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 }
    await this.#client.create(APIService, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: APIService.kind,
      metadata: { name: `${VERSION}.${GROUP}` },
      spec: { group: GROUP, version: VERSION, service, insecureSkipTLSVerify: true, ...priorities },
    } as never)
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #answer({ pathname, searchParams }: URL): Promise<object> {
    const groupVersion = `${GROUP}/${VERSION}`
    const [, namespace] = /\/namespaces\/([^/]+)\/pods$/.exec(pathname) ?? []
    if (namespace === undefined) {
      const pods = { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] }
      return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: [pods] }
    }
    const labelSelector = searchParams.get('labelSelector') ?? ''
    this.selectors.add(labelSelector)
    const { items } = await this.#client.list(Pod, { namespace, labelSelector })
    return {
      kind: 'PodMetricsList',
      apiVersion: groupVersion,
      metadata: {},
      items: items.map(({ metadata, spec }) => ({
        metadata: { name: metadata.name, namespace },
        timestamp: new Date().toISOString(),
        window: '10s',
        containers: (spec?.containers ?? []).map(({ name }) => ({ name, usage: { cpu: '1', memory: this.usage } })),
      })),
    }
  }
}
