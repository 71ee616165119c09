/** A fake Envoy: uses the files that were written to it, and gives its account of them as the real one does. */
import { SHOW_OPEN } from '../../src/agent/router/open-requests.ts'
import { SHOW_STATISTICS } from '../../src/agent/router/statistics.ts'

type File = 'clusters' | 'routes' | 'endpoints'

interface Written {
  readonly version_info: string
  readonly resources: readonly Record<string, unknown>[]
}

export class FakeEnvoy {
  readonly files = new Map<File, string>()
  /** All writes, in order. */
  readonly writes: File[] = []
  #used = new Map<File, Written>()
  /** While set, it keeps what it uses. */
  isDeaf = false
  isGone = false
  statistics = ''
  /** Requests in progress, by `ip:port`. */
  open: Readonly<Record<string, number>> = {}

  readonly write = (file: File, text: string): Promise<void> => {
    if (this.files.get(file) !== text) this.writes.push(file)
    this.files.set(file, text)
    this.#follow()
    return Promise.resolve()
  }

  readonly ask = (_: string, path: string): Promise<string> => {
    if (this.isGone) return Promise.reject(new Error('ENOENT'))
    this.#follow()
    if (path === SHOW_STATISTICS) return Promise.resolve(this.statistics)
    return Promise.resolve(JSON.stringify(path === SHOW_OPEN ? this.#clusters() : { configs: this.#configs() }))
  }

  #clusters(): object {
    const host_statuses = Object.entries(this.open).map(([address, count]) => ({
      address: { socket_address: { address: address.split(':')[0], port_value: Number(address.split(':')[1]) } },
      stats: [
        { name: 'cx_active', value: '9' },
        { type: 'GAUGE', name: 'rq_active', value: String(count) },
      ],
    }))
    return { cluster_statuses: [{ name: 'versions', host_statuses }, { name: 'empty' }] }
  }

  /** The resources of a file that it uses. */
  used(file: File): readonly Record<string, unknown>[] {
    return this.#used.get(file)?.resources ?? []
  }

  #follow(): void {
    if (!this.isDeaf)
      this.#used = new Map([...this.files].map(([file, text]) => [file, JSON.parse(text) as Written] as const))
  }

  #configs(): object[] {
    const type = (kind: string): object => ({ '@type': `type.googleapis.com/envoy.admin.v3.${kind}` })
    const routes = this.#used.get('routes')
    return [
      type('BootstrapConfigDump'),
      { ...type('ClustersConfigDump'), version_info: this.#used.get('clusters')?.version_info },
      {
        ...type('EndpointsConfigDump'),
        dynamic_endpoint_configs: this.used('endpoints').map((endpoint_config) => ({ endpoint_config })),
      },
      {
        ...type('RoutesConfigDump'),
        dynamic_route_configs: routes?.resources.map((route_config) => ({
          version_info: routes.version_info,
          route_config,
        })),
      },
    ]
  }
}
