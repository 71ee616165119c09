/** Watches the models of a namespace: the fewest ready pods, the weights and the selectors that were ever seen. */
import { modelDeployments } from '../../src/api/kinds.ts'
import { entriesOf, ROUTE_ANNOTATION } from '../../src/api/router-report.ts'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Pod, Service } from '../../src/kube/resources.ts'
import { watch } from '../../src/kube/watch.ts'
import { MODEL_UID_LABEL, ROLE_LABEL, VERSION_LABEL } from '../../src/plan/model-names.ts'
import { isPodReady } from '../../src/plan/pod-ready.ts'

export interface Traffic {
  /** By model, role and version: the fewest ready pods at any time. */
  readonly fewestReady: Readonly<Record<string, number>>
  /** By model: all weights that routers, and the status, had at any time. */
  readonly routes: Readonly<Record<string, readonly string[]>>
  readonly weights: Readonly<Record<string, readonly string[]>>
  /** By Service: all selectors that it had at any time. */
  readonly selectors: Readonly<Record<string, readonly string[]>>
}

export class TrafficWatch {
  readonly #stop = new AbortController()
  readonly #ended: Promise<unknown>
  readonly #pods = new Map<string, Pod>()
  #fewest = new Map<string, number>()
  #seen = { routes: new Seen(), weights: new Seen(), selectors: new Seen() }

  constructor(client: Client, namespace: string) {
    const follow = async <T extends KubeObject>(resource: Resource<T>, note: (object: T, isGone: boolean) => void) => {
      for await (const update of watch(client, resource, { namespace, signal: this.#stop.signal })) {
        if (update.type === 'replace') for (const object of update.items) note(object, false)
        else if (update.type === 'apply' || update.type === 'delete') note(update.object, update.type === 'delete')
      }
    }
    this.#ended = Promise.all([
      follow(Pod, (pod, isGone) => this.#notePod(pod, isGone)),
      follow(Service, ({ metadata, spec }) => this.#seen.selectors.add(metadata.name, spec?.selector)),
      follow(modelDeployments, ({ metadata, status }) => {
        const weights = (status?.activeVersions ?? []).map(({ name, weight }) => [name, weight] as const)
        this.#seen.weights.add(metadata.name, Object.fromEntries(weights))
      }),
    ])
  }

  /** Forgets what was seen, except for the pods that exist. */
  begin(): void {
    this.#seen = { routes: new Seen(), weights: new Seen(), selectors: new Seen() }
    this.#fewest = this.#ready()
  }

  traffic(): Traffic {
    const { routes, weights, selectors } = this.#seen
    return {
      fewestReady: Object.fromEntries(this.#fewest),
      routes: routes.all(),
      weights: weights.all(),
      selectors: selectors.all(),
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  #notePod(pod: Pod, isGone: boolean): void {
    const { uid = '', labels = {}, annotations = {} } = pod.metadata
    if (labels[MODEL_UID_LABEL] === undefined) return
    if (isGone) this.#pods.delete(uid)
    else this.#pods.set(uid, pod)
    const route = annotations[ROUTE_ANNOTATION]
    if (route !== undefined) {
      const entries = entriesOf(route).map(({ version, weight }) => [version, weight] as const)
      this.#seen.routes.add(labels['app'] ?? '', Object.fromEntries(entries))
    }
    const ready = this.#ready()
    for (const [group, count] of this.#fewest) this.#fewest.set(group, Math.min(count, ready.get(group) ?? 0))
  }

  #ready(): Map<string, number> {
    const serving = [...this.#pods.values()].filter(
      (pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined,
    )
    return new Map([...Map.groupBy(serving, groupOf)].map(([group, pods]) => [group, pods.length]))
  }
}

function groupOf({ metadata }: Pod): string {
  const { labels = {} } = metadata
  return [labels['app'], labels[ROLE_LABEL], labels[VERSION_LABEL]].filter((part) => part !== undefined).join(' ')
}

class Seen {
  readonly #values = new Map<string, Set<string>>()

  add(name: string, value: unknown): void {
    if (value === undefined) return
    const values = this.#values.get(name) ?? new Set()
    this.#values.set(name, values.add(JSON.stringify(value)))
  }

  all(): Record<string, readonly string[]> {
    return Object.fromEntries([...this.#values].map(([name, values]) => [name, [...values]]))
  }
}
