/** Invalid configuration. `where` is the path to the field to change: file, context, user, field. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(where: readonly string[], problem: string, cause?: unknown) {
    super(`${where.join(': ')}: ${problem}`, cause === undefined ? undefined : { cause })
  }
}
