/**
 * A model of the Hugging Face Hub at one revision. The Hub resolves a branch or tag to a commit, and all files are read from
 * that commit, so that they belong together.
 */
import type { Checksum } from '../../transfer/checksum.ts'
import { TransferError, TransientError } from '../../transfer/error.ts'
import { relativePath } from '../../transfer/relative-path.ts'
import type { ByteRange, Bytes } from '../../transfer/bytes.ts'
import type { RemoteFile, Source } from '../source.ts'
import { type Advice, startOf, statusError } from '../../objects/http-answer.ts'
import { type Headers, type HttpAnswer, type HttpGet, httpClient } from '../../objects/http-client.ts'

const ADVICE: Advice = {
  denied:
    'give the pod a Secret with HF_TOKEN, of an account that has accepted the terms of the model; the Hub also answers so for ' +
    'models that do not exist',
  missing: 'check the names of the model and of its revision',
}

interface HubModel {
  readonly sha: string
  readonly siblings: readonly HubFile[]
}

interface HubFile {
  readonly rfilename: string
  readonly size?: number
  readonly blobId?: string
  readonly lfs?: { readonly sha256: string; readonly size: number }
}

export function huggingFaceSource(uri: string, env: NodeJS.ProcessEnv): Source {
  const match = /^hf:\/\/([\w.-]+)\/([\w.-]+)(?::([\w./-]+))?$/.exec(uri)
  if (match === null) throw new TransferError('Invalid', `${uri} is not of the form hf://owner/model[:revision]`)
  const [, owner = '', model = '', revision = 'main'] = match
  const token = env['HF_TOKEN']
  return new HubSource({
    shown: uri,
    model: `${owner}/${model}`,
    revision,
    endpoint: env['HF_ENDPOINT'] || 'https://huggingface.co',
    get: httpClient(env),
    headers: { 'accept-encoding': 'identity', ...(token && { authorization: `Bearer ${token}` }) },
  })
}

interface Hub {
  readonly shown: string
  readonly model: string
  readonly revision: string
  readonly endpoint: string
  readonly get: HttpGet
  readonly headers: Headers
}

class HubSource implements Source {
  readonly shown: string
  readonly #hub: Hub
  readonly #checksums = new Map<string, Checksum>()

  constructor(hub: Hub) {
    this.shown = hub.shown
    this.#hub = hub
  }

  async list(signal: AbortSignal): Promise<readonly RemoteFile[]> {
    const { model, revision } = this.#hub
    const answer = await this.#request(
      `/api/models/${model}/revision/${encodeURIComponent(revision)}?blobs=true`,
      {},
      signal,
    )
    const { sha, siblings } = await parseModel(answer)
    const files = siblings.map((file) => this.#fileOf(file, sha))
    if (files.length > 0) return files
    throw new TransferError('ArtifactNotFound', `${this.shown} has no files at this revision`)
  }

  #fileOf({ rfilename, size: plainSize, blobId, lfs }: HubFile, commit: string): RemoteFile {
    const path = relativePath(rfilename)
    const size = lfs?.size ?? plainSize
    const identity = lfs?.sha256 ?? blobId
    const key = `/${this.#hub.model}/resolve/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`
    if (identity !== undefined) {
      this.#checksums.set(key, { algorithm: lfs === undefined ? 'git-blob' : 'sha256', value: identity.toLowerCase() })
    }
    return {
      key,
      path,
      hasRanges: size !== undefined && identity !== undefined,
      ...(size !== undefined && { size }),
      ...(identity !== undefined && { identity }),
    }
  }

  async read(file: RemoteFile, { start, end }: ByteRange, signal: AbortSignal): Promise<Bytes> {
    if (end === undefined) return (await this.#request(file.key, {}, signal)).body
    const answer = await this.#request(file.key, { range: `bytes=${start}-${end - 1}` }, signal)
    const isRange = answer.status === 206 && startOf(answer.headers['content-range']) === start
    // The Hub returns small files as a whole, whatever the range.
    if (isRange || (answer.status === 200 && start === 0 && end === file.size)) return answer.body
    answer.body.destroy()
    throw new TransientError(`${this.shown}: ${file.path} starts at its beginning instead of byte ${start}`)
  }

  checksum(file: RemoteFile): Promise<Checksum | undefined> {
    return Promise.resolve(this.#checksums.get(file.key))
  }

  async #request(path: string, headers: Headers, signal: AbortSignal): Promise<HttpAnswer> {
    const { endpoint, get, headers: common } = this.#hub
    const answer = await get(new URL(endpoint.replace(/\/+$/, '') + path), { ...common, ...headers }, signal)
    if (answer.status < 300) return answer
    answer.body.destroy()
    throw statusError(answer.status, this.shown, ADVICE)
  }
}

async function parseModel(answer: HttpAnswer): Promise<HubModel> {
  const model = (await answer.body.json().catch(() => undefined)) as Partial<HubModel> | undefined
  if (typeof model?.sha === 'string' && Array.isArray(model.siblings) && model.siblings.every(isHubFile)) {
    return model as HubModel
  }
  throw new TransientError('the response of the Hub is not a model')
}

function isHubFile(file: unknown): file is HubFile {
  const { rfilename, size, blobId, lfs } = (file ?? {}) as Readonly<Record<string, unknown>>
  const { sha256, size: lfsSize } = (lfs ?? { sha256: '', size: 0 }) as Readonly<Record<string, unknown>>
  const isSize = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  return (
    typeof rfilename === 'string' &&
    (size === undefined || isSize(size)) &&
    (blobId === undefined || typeof blobId === 'string') &&
    typeof sha256 === 'string' &&
    isSize(lfsSize)
  )
}
