/** The source of a URI. Loads only the libraries of that source. */
import { TransferError } from '../../transfer/error.ts'
import type { Source } from '../source.ts'
import { objectUri, shownUri } from '../../transfer/uri.ts'

export async function sourceOf(uri: string, env: NodeJS.ProcessEnv): Promise<Source> {
  const scheme = /^([a-z0-9]+):\/\//i.exec(uri)?.[1]?.toLowerCase() ?? ''
  switch (scheme) {
    case 's3':
      return (await import('./s3.ts')).s3Source(parseObjectUri(uri), env)
    case 'gs':
      return (await import('./gcs.ts')).gcsSource(parseObjectUri(uri), env)
    case 'az':
      return (await import('./azure.ts')).azureSource(parseObjectUri(uri), env)
    case 'http':
    case 'https':
      if (!URL.canParse(uri)) throw new TransferError('Invalid', `${shownUri(uri)} is not a URL`)
      return (await import('./http.ts')).httpSource(uri, env)
    case 'hf':
      return (await import('./hugging-face.ts')).huggingFaceSource(uri, env)
    default:
      throw new TransferError(
        'Invalid',
        `${shownUri(uri)}: unknown scheme; use s3://, gs://, az://, http://, https:// or hf://`,
      )
  }
}

function parseObjectUri(uri: string) {
  const parts = objectUri(uri)
  if (parts !== undefined) return parts
  throw new TransferError(
    'Invalid',
    `${shownUri(uri)} is not of the form s3://bucket/key, gs://bucket/key or az://container/key`,
  )
}
