/** What the stages share: settings, terminal, client, and the abort signal. */

import { setTimeout as delay } from 'node:timers/promises'
import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { localCluster } from './local-cluster.ts'
import type { Settings } from './settings.ts'
import type { Terminal } from './terminal.ts'

const POLL_MS = 300

export class Demo {
  readonly settings: Settings
  readonly terminal: Terminal
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal
  /** Lines for the summary. */
  readonly seen: string[] = []
  #client: Promise<Client> | undefined

  constructor(settings: Settings, terminal: Terminal, signal: AbortSignal) {
    this.settings = settings
    this.terminal = terminal
    this.signal = signal
  }

  get namespace(): string {
    return this.settings.namespace
  }

  /** The kubeconfig of the cluster in use. Throws before the first stage has run. */
  get kubeconfig(): string {
    const path = this.settings.kubeconfig ?? localCluster(this.settings)?.kubeconfig
    if (path === undefined) throw new Error('there is no cluster yet')
    return path
  }

  client(): Promise<Client> {
    this.#client ??= configFromKubeconfig(this.kubeconfig).then((config) => createClient(config))
    return this.#client
  }

  /** Polls until `ask` returns neither undefined nor false and does not throw. */
  async until<T>(what: string, ask: () => Promise<T | undefined | false>, timeoutMs = 300_000): Promise<T> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      this.signal.throwIfAborted()
      const answer = await ask().catch((error: unknown) => error)
      if (answer instanceof Fatal) throw answer
      if (answer !== undefined && answer !== false && !(answer instanceof Error)) return answer as T
      if (Date.now() > deadline)
        throw new Error(`waited ${timeoutMs / 1_000} seconds for ${what}`, { cause: answer || undefined })
      await delay(POLL_MS, undefined, { signal: this.signal })
    }
  }

  async close(): Promise<void> {
    await (await this.#client)?.close()
  }
}

/** An error that waiting does not fix. */
export class Fatal extends Error {}
