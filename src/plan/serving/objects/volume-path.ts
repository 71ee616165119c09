/** Where a model is inside of a volume that holds it. */

/** The mount is a directory. `file` is the model in it, or empty if the directory is the model. */
export interface VolumePath {
  readonly directory: string
  readonly file: string
}

export function volumePath(inside: string): VolumePath {
  const file = fileIn(inside)
  return { file, directory: inside.slice(0, inside.length - file.length).replace(/\/+$/, '') }
}

/** The last part of a path if it has a file extension. */
export function fileIn(path: string): string {
  const last =
    path
      .replace(/^[a-z0-9]+:\/\/[^/]*/, '')
      .split('/')
      .at(-1) ?? ''
  return /^.+\.[A-Za-z0-9]+$/.test(last) && !/\.v?[0-9]+$/.test(last) ? last : ''
}
