/**
 * A small MLflow: the endpoints that the operator uses, in memory. `trouble` makes it misbehave. The real server is used in
 * test/e2e.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { listen } from '../../src/net/listening.ts'

interface Entry {
  readonly key: string
  readonly value: string
}
interface Metric {
  readonly key: string
  readonly value: number
  readonly step: number
  readonly timestamp: number
}
export interface Run {
  readonly id: string
  readonly experiment: string
  name: string
  status: string
  endTime?: number
  readonly params: Map<string, string>
  readonly tags: Map<string, string>
  readonly metrics: Metric[]
}
export interface Version {
  readonly name: string
  readonly version: string
  readonly source: string
  readonly run_id: string
  readonly tags: readonly Entry[]
}

/** `lost`: executes the request and closes the connection without an answer. */
export type Trouble = '500' | 'garbage' | 'list' | 'huge' | 'hang' | 'nothing' | 'lost' | 'redirect'

type Body = Readonly<Record<string, unknown>>

export class FakeMlflow {
  readonly experiments = new Map<string, string>()
  readonly runs: Run[] = []
  readonly versions: Version[] = []
  readonly requests: string[] = []
  readonly authorizations = new Set<string | undefined>()
  trouble: Trouble | undefined
  /** The only endpoint with trouble; by default all. */
  troubled: string | undefined
  url = ''
  readonly #models = new Set<string>()
  #server: Server | undefined

  async start(t: TestContext): Promise<this> {
    await this.listen()
    t.after(() => this.close())
    return this
  }

  async listen(): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.url = `http://127.0.0.1:${await listen(this.#server, { port: 0, host: '127.0.0.1' })}`
  }

  close(): void {
    this.#server?.closeAllConnections()
    this.#server?.close()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const url = new URL(request.url ?? '/', this.url)
    const endpoint = url.pathname.replace('/api/2.0/mlflow/', '')
    this.requests.push(endpoint)
    this.authorizations.add(request.headers.authorization)
    const trouble = this.troubled === undefined || this.troubled === endpoint ? this.trouble : undefined
    if (trouble !== undefined && trouble !== 'lost') return this.#misbehave(trouble, response)
    const text = Buffer.concat(chunks).toString()
    const body = (text === '' ? Object.fromEntries(url.searchParams) : JSON.parse(text)) as Body
    const [status, answer] = this.#handle(endpoint, body)
    if (trouble === 'lost') return void response.destroy()
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #misbehave(trouble: Exclude<Trouble, 'lost'>, response: ServerResponse): void {
    const answers = {
      '500': () => response.writeHead(500).end('{"error_code": "INTERNAL_ERROR", "message": "no"}'),
      garbage: () => response.writeHead(200).end('<html>{{'),
      list: () => response.writeHead(200).end('[NaN]'),
      huge: () => response.writeHead(200).end(`{"runs": "${'x'.repeat(10_000_000)}"}`),
      hang: () => undefined,
      nothing: () => response.destroy(),
      redirect: () => response.writeHead(302, { location: `${this.url}/elsewhere` }).end(),
    }
    answers[trouble]()
  }

  #handle(endpoint: string, body: Body): [number, object] {
    const handlers: Readonly<Record<string, () => [number, object]>> = {
      'experiments/get-by-name': () => this.#experiment(String(body['experiment_name'])),
      'experiments/create': () => this.#createExperiment(String(body['name'])),
      'runs/search': () => [200, { runs: this.runs.filter((run) => this.#isFound(run, body)).map(shown) }],
      'runs/create': () => this.#createRun(body),
      'runs/get': () => this.#withRun(body, (run) => ({ run: shown(run) })),
      'runs/log-batch': () => this.#withRun(body, (run) => this.#log(run, body)),
      'runs/update': () =>
        this.#withRun(body, (run) => Object.assign(run, { status: body['status'], endTime: body['end_time'] })),
      'registered-models/create': () => this.#createModel(String(body['name'])),
      'model-versions/search': () => [200, { model_versions: this.versions.filter((one) => isNamed(one, body)) }],
      'model-versions/create': () => this.#createVersion(body),
    }
    return handlers[endpoint]?.() ?? [404, { error_code: 'ENDPOINT_NOT_FOUND' }]
  }

  #experiment(name: string): [number, object] {
    const id = this.experiments.get(name)
    return id === undefined ? missing : [200, { experiment: { experiment_id: id, name } }]
  }

  #createExperiment(name: string): [number, object] {
    if (this.experiments.has(name)) return [400, { error_code: 'RESOURCE_ALREADY_EXISTS' }]
    this.experiments.set(name, String(this.experiments.size + 1))
    return [200, { experiment_id: this.experiments.get(name) }]
  }

  #isFound({ experiment, tags }: Run, body: Body): boolean {
    const ids = body['experiment_ids'] as readonly string[]
    return ids.includes(experiment) && String(body['filter']).includes(`'${tags.get('ml-operator.uid')}'`)
  }

  #createRun(body: Body): [number, object] {
    const tags = new Map((body['tags'] as readonly Entry[]).map(({ key, value }) => [key, value]))
    const id = `run${this.runs.length + 1}`
    const base = { id, experiment: String(body['experiment_id']), name: String(body['run_name']), status: 'RUNNING' }
    const run: Run = { ...base, params: new Map(), tags, metrics: [] }
    this.runs.push(run)
    return [200, { run: shown(run) }]
  }

  #log(run: Run, body: Body): object {
    for (const { key, value } of (body['params'] as readonly Entry[] | undefined) ?? []) run.params.set(key, value)
    for (const { key, value } of (body['tags'] as readonly Entry[] | undefined) ?? []) run.tags.set(key, value)
    run.metrics.push(...((body['metrics'] as readonly Metric[] | undefined) ?? []))
    return {}
  }

  #createModel(name: string): [number, object] {
    if (this.#models.has(name)) return [400, { error_code: 'RESOURCE_ALREADY_EXISTS' }]
    this.#models.add(name)
    return [200, { registered_model: { name } }]
  }

  #createVersion(body: Body): [number, object] {
    const count = this.versions.filter(({ name }) => name === body['name']).length
    const version = { ...(body as unknown as Version), version: String(count + 1) }
    this.versions.push(version)
    return [200, { model_version: version }]
  }

  #withRun(body: Body, act: (run: Run) => object): [number, object] {
    const run = this.runs.find(({ id }) => id === body['run_id'])
    return run ? [200, act(run)] : missing
  }
}

const missing: [number, object] = [404, { error_code: 'RESOURCE_DOES_NOT_EXIST' }]

function isNamed({ name, run_id: run }: Version, body: Body): boolean {
  return body['filter'] === `name = '${name}' and run_id = '${run}'`
}

function shown({ id, experiment, status, params, tags, metrics }: Run): object {
  const pairs = (map: ReadonlyMap<string, string>) => [...map].map(([key, value]) => ({ key, value }))
  const latest = new Map<string, Metric>()
  for (const metric of metrics) if (metric.step >= (latest.get(metric.key)?.step ?? 0)) latest.set(metric.key, metric)
  const info = { run_id: id, experiment_id: experiment, status }
  return { info, data: { params: pairs(params), tags: pairs(tags), metrics: [...latest.values()] } }
}
