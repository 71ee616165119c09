import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'

import type { Client } from '../../src/kube/client.ts'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { isOlder } from '../../src/kube/resource-version.ts'
import { watch, type WatchOptions, type WatchState, type WatchUpdate } from '../../src/kube/watch.ts'
import { until } from '../timing/until.ts'

/** How soon after a fault the mirror must equal the server's state. */
const RECOVERED_WITHIN_MS = 5_000

type Options<T extends KubeObject> = Omit<WatchOptions<T>, 'signal' | 'onState'>

/** The simplest consumer of a watch: applies each update, and checks the guarantees of the watch. */
export class Mirror<T extends KubeObject> {
  readonly states: WatchState[] = []
  readonly updates: WatchUpdate<T>['type'][] = []
  readonly #objects = new Map<string, T>()
  readonly #stop = new AbortController()
  readonly #done: Promise<void>
  readonly #resource: Resource<T>
  readonly #options: Options<T>
  #version = ''

  constructor(client: Client, resource: Resource<T>, options: Options<T>) {
    this.#resource = resource
    this.#options = options
    const onState = (state: WatchState): void => void this.states.push(state)
    this.#done = this.#follow(watch(client, resource, { ...options, signal: this.#stop.signal, onState }))
  }

  object(name: string): T | undefined {
    return [...this.#objects.values()].find(({ metadata }) => metadata.name === name)
  }

  get replacements(): number {
    return this.updates.filter((type) => type === 'replace').length
  }

  /** The errors of the watch so far, in order. */
  get faults(): unknown[] {
    return this.states.flatMap((state) => (state.phase === 'waiting' ? [state.error] : []))
  }

  /** Waits until the mirror equals a list by `direct`, a client without faults. */
  async equals(direct: Client): Promise<void> {
    await until('the mirror to equal a fresh list', async () => this.#agreesWith(direct), RECOVERED_WITHIN_MS).catch(
      async (error: unknown) => {
        assert.deepEqual(summary([...this.#objects.values()]), summary(await this.#listed(direct)))
        throw error
      },
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#done
  }

  async #agreesWith(direct: Client): Promise<boolean> {
    const expected = summary(await this.#listed(direct))
    const held = summary([...this.#objects.values()])
    return expected.length === held.length && expected.every((line, index) => line === held[index])
  }

  async #listed(direct: Client): Promise<readonly T[]> {
    return (await direct.list(this.#resource, this.#options)).items
  }

  async #follow(updates: AsyncIterable<WatchUpdate<T>>): Promise<void> {
    for await (const update of updates) {
      this.updates.push(update.type)
      const version = 'object' in update ? (update.object.metadata.resourceVersion ?? '') : update.resourceVersion
      assert.ok(!isOlder(version, this.#version), `${update.type} goes back from ${this.#version} to ${version}`)
      this.#version = version
      this.#apply(update)
    }
  }

  #apply(update: WatchUpdate<T>): void {
    switch (update.type) {
      case 'replace':
        this.#objects.clear()
        for (const object of update.items) this.#objects.set(object.metadata.uid ?? '', object)
        return
      case 'apply':
        this.#objects.set(update.object.metadata.uid ?? '', update.object)
        return
      case 'delete':
        assert.ok(this.#objects.delete(update.object.metadata.uid ?? ''), 'only an existing object can be deleted')
        return
      case 'bookmark':
    }
  }
}

/** A mirror that stops with the test. */
export function mirror<T extends KubeObject>(
  t: TestContext,
  client: Client,
  resource: Resource<T>,
  options: Options<T>,
): Mirror<T> {
  const made = new Mirror(client, resource, options)
  t.after(() => made.stop())
  return made
}

function summary(objects: readonly KubeObject[]): string[] {
  return objects
    .map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`)
    .toSorted()
}
