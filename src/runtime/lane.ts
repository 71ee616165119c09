/** Keys of one priority. Namespaces take turns; within a namespace, keys are served in the order of their arrival. */
import { keyString, type ObjectKey } from '../kube/object.ts'

export class Lane {
  readonly #keys = new Map<string, Fifo<string>>()
  readonly #turns = new Fifo<string>()
  /** Had the last turn and has more keys: queues again at the next turn, behind namespaces that have come meanwhile. */
  #served: string | undefined

  get isEmpty(): boolean {
    return this.#keys.size === 0
  }

  push(key: ObjectKey): void {
    const namespace = key.namespace ?? ''
    const keys = this.#keys.get(namespace) ?? this.#open(namespace)
    keys.push(keyString(key))
  }

  remove(key: ObjectKey): void {
    const namespace = key.namespace ?? ''
    const keys = this.#keys.get(namespace)
    keys?.remove(keyString(key))
    if (keys?.isEmpty) this.#close(namespace)
  }

  shift(): string | undefined {
    if (this.#served !== undefined) this.#turns.push(this.#served)
    this.#served = this.#turns.shift()
    if (this.#served === undefined) return undefined
    const keys = this.#keys.get(this.#served)
    const id = keys?.shift()
    if (keys?.isEmpty) this.#close(this.#served)
    return id
  }

  #open(namespace: string): Fifo<string> {
    const keys = new Fifo<string>()
    this.#keys.set(namespace, keys)
    this.#turns.push(namespace)
    return keys
  }

  #close(namespace: string): void {
    this.#keys.delete(namespace)
    this.#turns.remove(namespace)
    if (this.#served === namespace) this.#served = undefined
  }
}

/** A first-in, first-out set. Its one live iterator also returns later additions, so `shift` takes constant time. */
class Fifo<T> {
  readonly #members = new Set<T>()
  #iterator = this.#members.values()

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  /** A member keeps its place. */
  push(member: T): void {
    this.#members.add(member)
  }

  remove(member: T): void {
    this.#members.delete(member)
  }

  shift(): T | undefined {
    const { done, value } = this.#iterator.next()
    if (!done) this.#members.delete(value)
    else this.#iterator = this.#members.values()
    return value
  }
}
