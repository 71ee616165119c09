/**
 * The paths of a model's files below the directory of the server.
 *
 * - `file`: as at the source.
 * - `repository`: `NAME/VERSION/…`, the layout of Triton and TensorFlow Serving. A source in this layout stays unchanged. A
 *   source that starts with versions, or has Triton's configuration at its top, gets the name as a prefix. Anything else
 *   becomes version 1 of the model.
 */
import { TransferError } from '../transfer/error.ts'
import type { RemoteFile } from './source.ts'

export const layouts = ['file', 'repository'] as const

export type LayoutName = (typeof layouts)[number]

export interface Placed {
  readonly file: RemoteFile
  /** Below the directory of the model. */
  readonly path: string
}

const VERSION = '[0-9]+'
const CONFIGURATION = 'config.pbtxt'
/** Extensions for which Triton finds a single `model.EXTENSION` without a configuration. */
const DEFAULT_NAMES = ['onnx', 'pt', 'plan', 'py']

export function placed(files: readonly RemoteFile[], layout: LayoutName, modelName = ''): readonly Placed[] {
  if (layout === 'file') return files.map((file) => ({ file, path: file.path }))
  const prefix = repositoryPrefix(files, modelName)
  const isAlone = files.length === 1 && prefix.endsWith('/1/')
  return files.map((file) => ({ file, path: prefix + (isAlone ? defaultName(file.path) : file.path) }))
}

function repositoryPrefix(files: readonly RemoteFile[], modelName: string): string {
  const has = (pattern: string): boolean => files.some(({ path }) => new RegExp(`^${pattern}`).test(path))
  if (has(`${VERSION}/`) || has(`${CONFIGURATION}$`)) return `${modelName}/`
  if (has(`[^/]+/${VERSION}/`) || has(`[^/]+/${CONFIGURATION}$`)) return repositoryOf(files, modelName)
  return `${modelName}/1/`
}

/** Clients request the model by its name, so the repository must contain it. */
function repositoryOf(files: readonly RemoteFile[], modelName: string): string {
  const names = [...new Set(files.map(({ path }) => path.split('/')[0] ?? ''))]
  if (names.includes(modelName)) return ''
  throw new TransferError(
    'Invalid',
    `the source is a repository of ${names.slice(0, 10).join(', ')}, without a model named ${modelName}: use the path of one of them`,
  )
}

function defaultName(path: string): string {
  const extension = path.split('.').at(-1) ?? ''
  return DEFAULT_NAMES.includes(extension) ? `model.${extension}` : path
}
