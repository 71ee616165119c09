/** URIs of models. */

/** Without what may be a secret: user and password, and the query, in which signatures stand. */
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
  /** One object, or what the keys of several begin with. */
  readonly key: string
}

/** Of `s3://bucket/key` or `gs://bucket/key`. Keys are what they are: nothing in them is decoded. */
export function objectUri(uri: string): ObjectUri | undefined {
  const [, bucket = '', key = ''] = /^[a-z0-9]+:\/\/([^/?#@:]+)(?:\/(.*))?$/is.exec(uri) ?? []
  return bucket === '' ? undefined : { bucket, key }
}
