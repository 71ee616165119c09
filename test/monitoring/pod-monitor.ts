/**
 * Our PodMonitors as scrape configurations, as the Prometheus operator translates them. The Prometheus of Debian cannot discover pods,
 * so a server of the test lists them for it, with the labels of Prometheus' own discovery.
 */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Client } from '../../src/kube/client.ts'
import { Pod } from '../../src/kube/resources.ts'
import { portOf } from '../../testenv/ports.ts'

interface Relabeling {
  readonly action: string
  readonly sourceLabels: readonly string[]
  readonly targetLabel: string
}

interface PodMonitor {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podMetricsEndpoints: readonly {
      readonly path: string
      readonly port: string
      readonly relabelings: readonly Relabeling[]
    }[]
  }
}

export interface PodScrapes {
  readonly scrapes: readonly object[]
  close(): Promise<void>
}

const FOLDER = join(import.meta.dirname, '..', '..', 'config', 'monitoring')
const META = '__meta_kubernetes_'

/** The scrape configurations of a PodMonitor. The time between scrapes is that of the Prometheus. */
export async function podScrapes(client: Client, podMonitor: string): Promise<PodScrapes> {
  const { metadata, spec } = parse(await readFile(join(FOLDER, `${podMonitor}.yaml`), 'utf8')) as PodMonitor
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    const list = async (): Promise<void> => {
      const { items } = await client.list(Pod, {})
      response.end(JSON.stringify(items.flatMap(targetsOf)))
    }
    list().catch(() => response.writeHead(503).end())
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const scrapes = spec.podMetricsEndpoints.map(({ path, port, relabelings }, index) => ({
    job_name: `${metadata.name}/${index}`,
    metrics_path: path,
    http_sd_configs: [{ url: `http://127.0.0.1:${portOf(server)}/`, refresh_interval: '1s' }],
    relabel_configs: relabelConfigs(spec.selector.matchLabels, port, relabelings),
  }))
  const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()).closeAllConnections())
  return { scrapes, close }
}

/** One target for each port of a running pod. */
function targetsOf({ metadata, spec, status }: Pod): object[] {
  if (status?.podIP === undefined || status.phase !== 'Running') return []
  const { name, namespace = '', labels = {} } = metadata
  const pod = Object.fromEntries(Object.entries(labels).map(([key, value]) => [labelOf(key), value]))
  return (spec?.containers ?? []).flatMap(({ ports = [] }) =>
    ports.map((port) => ({
      targets: [`${status.podIP}:${port.containerPort}`],
      labels: {
        ...pod,
        [`${META}namespace`]: namespace,
        [`${META}pod_name`]: name,
        [`${META}pod_container_port_name`]: port.name ?? '',
      },
    })),
  )
}

const labelOf = (key: string): string => `${META}pod_label_${key.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`

function relabelConfigs(
  matchLabels: Readonly<Record<string, string>>,
  port: string,
  relabelings: readonly Relabeling[],
): object[] {
  const keep = (label: string, regex: string): object => ({ action: 'keep', source_labels: [label], regex })
  const copied = (label: string, target: string): object => ({ source_labels: [label], target_label: target })
  return [
    ...Object.entries(matchLabels).map(([key, value]) => keep(labelOf(key), value)),
    keep(`${META}pod_container_port_name`, port),
    copied(`${META}namespace`, 'namespace'),
    copied(`${META}pod_name`, 'pod'),
    ...relabelings.map(({ action, sourceLabels, targetLabel }) => ({
      action,
      source_labels: sourceLabels,
      target_label: targetLabel,
    })),
  ]
}
