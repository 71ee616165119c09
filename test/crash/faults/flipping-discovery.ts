/**
 * An API server that does not serve the kinds of traffic providers for a while, as during an upgrade of their CRDs: watches
 * end, lists and watches return 404, and discovery may omit the kinds as well.
 */
import type { Call, Interceptor, Response } from '../../../src/kube/interceptor.ts'
import { errorResponse } from '../../client/faults.ts'
import { trafficKinds } from '../../cluster/traffic-crds.ts'
import type { Flip } from './fault.ts'

const FLIPPED_MS = 700

const groups = new Set(trafficKinds.map(({ group }) => group))

export class FlippingDiscovery {
  readonly #denied: Flip['denied']
  readonly #begun = Promise.withResolvers<'flipped'>()
  #until = -Infinity

  constructor(denied: Flip['denied']) {
    this.#denied = denied
  }

  flip(): void {
    this.#until = Date.now() + FLIPPED_MS
    this.#begun.resolve('flipped')
  }

  readonly interceptor: Interceptor = async (call, next) => {
    if (Date.now() < this.#until && this.#isDenied(call)) return errorResponse(404, 'NotFound')
    const response = await next(call)
    if (typeof response.body === 'string' || !isTrafficKind(call)) return response
    return { ...response, body: this.#cut(response.body) }
  }

  #isDenied(call: Call): boolean {
    if (isDiscovery(call)) return this.#denied === 'discovery'
    return isTrafficKind(call) && (call.verb === 'list' || call.verb === 'watch')
  }

  /** Ends the stream when the kinds stop being served. */
  async *#cut(body: Exclude<Response['body'], string>): AsyncGenerator<Uint8Array, void, undefined> {
    const isOver = this.#until > -Infinity
    const source = body[Symbol.asyncIterator]()
    try {
      for (;;) {
        const chunk = await (isOver ? source.next() : Promise.race([source.next(), this.#begun.promise]))
        if (chunk === 'flipped' || chunk.done) return
        yield chunk.value
      }
    } finally {
      await source.return?.()
    }
  }
}

const isTrafficKind = ({ resource }: Call): boolean => groups.has(resource?.group ?? '')

const isDiscovery = ({ resource, path }: Call): boolean =>
  resource === undefined && groups.has(path.split('/')[2] ?? '')
