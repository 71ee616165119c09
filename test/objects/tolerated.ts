/** Manual edits that the operator tolerates on purpose. All others are repaired, or rejected by the API server. */

export interface Tolerated {
  /** Of the child; every kind if absent. */
  readonly kind?: RegExp
  readonly path: RegExp
  readonly reason: string
}

export const tolerated: readonly Tolerated[] = [
  {
    path: /^metadata\.(labels|annotations)(\{\}|$)/,
    reason: 'labels and annotations of others are theirs: tools add them to everything',
  },
  {
    kind: /^Job$/,
    path: /^metadata\.labels\.(app|component|trainingjob|app\.kubernetes\.io\/[a-z-]+)$/,
    reason: 'the Job of an attempt is created once, and nothing selects it by these labels',
  },
  { path: /^metadata\.finalizers/, reason: 'finalizers belong to whoever adds and removes them' },
  {
    path: /^metadata\.ownerReferences/,
    reason: 'an object without our controller reference belongs to others and is reported as a conflict',
  },
  {
    kind: /^PersistentVolumeClaim$/,
    path: /./,
    reason: 'claims hold data: they are created once and never changed, so that a resize by hand stays',
  },
]

export function toleranceOf(kind: string, path: string): Tolerated | undefined {
  return tolerated.find((rule) => (rule.kind?.test(kind) ?? true) && rule.path.test(path))
}
