/** URIs of models. */

/** Removes what may be secret: user, password, and the query, which may contain a signature. */
export function shownUri(uri: string): string {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/is.exec(uri) ?? []
  if (scheme === '') return uri.replace(/[?#].*$/s, '')
  const withoutQuery = rest.replace(/[?#].*$/s, '')
  const slash = withoutQuery.indexOf('/')
  const authority = slash === -1 ? withoutQuery : withoutQuery.slice(0, slash)
  return scheme + authority.slice(authority.lastIndexOf('@') + 1) + (slash === -1 ? '' : withoutQuery.slice(slash))
}

export interface ObjectUri {
  readonly bucket: string
  /** The key of one object, or the common prefix of several. */
  readonly key: string
}

/** Parses `s3://bucket/key` or `gs://bucket/key`. Keys are not decoded. */
export function objectUri(uri: string): ObjectUri | undefined {
  const [, bucket = '', key = ''] = /^[a-z0-9]+:\/\/([^/?#@:]+)(?:\/(.*))?$/is.exec(uri) ?? []
  return bucket === '' ? undefined : { bucket, key }
}
