/** A real Prometheus that scrapes the given targets every second and evaluates our rules without waiting times. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ruleGroups } from '../../scripts/monitoring/files.ts'
import { freePorts } from '../../testenv/ports.ts'
import { providePrometheus } from '../../testenv/prometheus.ts'
import { until } from '../timing/until.ts'

export interface Target {
  readonly job: string
  readonly address: string
  readonly token?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface Prometheus {
  readonly url: string
  /** The number of series that the query returns. */
  count(query: string): Promise<number>
  /** The labels of the series that the query returns; undefined if Prometheus rejects it. */
  labels(query: string): Promise<readonly Readonly<Record<string, string>>[] | undefined>
  /** The names of the alerts that fire. */
  firing(): Promise<Set<string>>
  stop(): Promise<void>
}

/** `scrapes` are further scrape configurations, as Prometheus has them. */
export async function startPrometheus(
  targets: readonly Target[],
  scrapes: readonly object[] = [],
): Promise<Prometheus> {
  const { prometheus } = await providePrometheus()
  const directory = await mkdtemp(join(tmpdir(), 'ml-operator-prometheus-'))
  const [port = 0] = await freePorts(1)
  await writeFile(join(directory, 'rules.yaml'), JSON.stringify(ruleGroups()).replaceAll(/"for":"\w+"/g, '"for":"0s"'))
  await writeFile(join(directory, 'config.yaml'), JSON.stringify(configOf(targets, scrapes)))
  const flags = ['config.file=config.yaml', 'storage.tsdb.path=data', `web.listen-address=127.0.0.1:${port}`]
  const child = spawn(
    prometheus,
    flags.map((flag) => `--${flag}`),
    { cwd: directory, stdio: 'ignore' },
  )
  const url = `http://127.0.0.1:${port}`
  await until('Prometheus to be ready', async () => (await fetch(`${url}/-/ready`)).ok)
  const results = async (query: string) => {
    const answer = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query }).toString()}`)
    const { data } = (await answer.json()) as { data?: { result: { metric?: Record<string, string> }[] } }
    return data?.result
  }
  return {
    url,
    count: async (query) => (await results(query))?.length ?? 0,
    labels: async (query) => (await results(query))?.map(({ metric = {} }) => metric),
    firing: async () =>
      new Set(((await results('ALERTS{alertstate="firing"}')) ?? []).map(({ metric }) => metric?.['alertname'] ?? '')),
    stop: async () => {
      const exit = once(child, 'exit')
      child.kill()
      await exit
      await rm(directory, { recursive: true })
    },
  }
}

/** As our ServiceMonitor and PodMonitors have it. */
function configOf(targets: readonly Target[], scrapes: readonly object[]): object {
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [...targets.map(scrapeOf), ...scrapes],
  }
}

const scrapeOf = ({ job, address, token, labels = {} }: Target): object => ({
  job_name: job,
  honor_labels: true,
  static_configs: [{ targets: [address], labels }],
  ...(token !== undefined && { authorization: { credentials: token } }),
})
