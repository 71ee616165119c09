/**
 * How far each watch of a cache has come: one watch for all namespaces, or one for each namespace. Versions are compared
 * within a watch only, because a watch says nothing about what another one has delivered.
 */
import { isOlder } from '../kube/resource-version.ts'

/** The name of the watch of all namespaces. No namespace has it. */
export const ALL_NAMESPACES = ''

export class WatchVersions {
  readonly #versions: Map<string, string>
  readonly #listed = new Set<string>()

  constructor(namespaces: readonly string[]) {
    const watches = namespaces.length === 0 ? [ALL_NAMESPACES] : namespaces
    this.#versions = new Map(watches.map((name) => [name, '0']))
  }

  get watches(): readonly string[] {
    return [...this.#versions.keys()]
  }

  /** The version that the watch of a namespace has reached. Without such a watch: that which all watches have reached. */
  of(namespace: string = ALL_NAMESPACES): string {
    return this.#versions.get(namespace) ?? this.#least()
  }

  advance(watch: string, resourceVersion: string): void {
    if (isOlder(this.of(watch), resourceVersion)) this.#versions.set(watch, resourceVersion)
  }

  /** The server went back to an older version. */
  rewind(watch: string, resourceVersion: string): void {
    this.#versions.set(watch, resourceVersion)
  }

  listed(watch: string): void {
    this.#listed.add(watch)
  }

  /** Whether every watch has delivered a list since `forgetLists`. */
  get allListed(): boolean {
    return this.#listed.size === this.#versions.size
  }

  forgetLists(): void {
    this.#listed.clear()
  }

  #least(): string {
    return [...this.#versions.values()].reduce((least, one) => (isOlder(one, least) ? one : least))
  }
}
