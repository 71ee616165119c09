/**
 * Reads the bodies of reviews within limits: on the size of a body, on the number of concurrent reviews, and on the bytes
 * of all reviews until they are answered. Above the last limit, the oldest incomplete body is rejected: the API server
 * sends its reviews without pauses, so a slow client is not the API server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface IntakeLimits {
  readonly bodyBytes: number
  readonly totalBytes: number
  readonly reviews: number
}

/** A body that is rejected. */
export class IntakeError extends Error {
  override readonly name = 'IntakeError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Upload {
  held: number
  /** Absent once the body is complete. */
  rejectUpload?: (error: IntakeError) => void
}

export class ReviewIntake {
  readonly #limits: IntakeLimits
  /** The oldest first. */
  readonly #uploads = new Set<Upload>()
  #held = 0

  constructor(limits: IntakeLimits) {
    this.#limits = limits
  }

  get heldBytes(): number {
    return this.#held
  }

  /**
   * Passes the whole body to `work`. It counts against the limits until the work is done and the response is closed, also
   * if the client disconnects. Throws an IntakeError.
   */
  async take<T>(
    request: IncomingMessage,
    response: ServerResponse,
    work: (body: Uint8Array<ArrayBuffer>) => Promise<T>,
  ): Promise<T> {
    const { bodyBytes, reviews } = this.#limits
    if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw this.#tooLarge()
    if (this.#uploads.size >= reviews) throw new IntakeError(503, `${reviews} reviews are being converted: try again`)
    const upload: Upload = { held: 0 }
    this.#uploads.add(upload)
    const closed = new Promise<void>((resolve) => void response.on('close', () => resolve()))
    try {
      return await work(await this.#collect(request, upload))
    } finally {
      void closed.then(() => {
        this.#release(upload)
        this.#uploads.delete(upload)
      })
    }
  }

  #collect(request: IncomingMessage, upload: Upload): Promise<Uint8Array<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
      const body = new Body()
      upload.rejectUpload = (error) => {
        delete upload.rejectUpload
        this.#release(upload)
        request.removeAllListeners('data').pause()
        reject(error)
      }
      request.on('data', (chunk: Uint8Array) => {
        body.add(chunk)
        this.#grow(upload, chunk.length)
      })
      request.on('end', () => {
        delete upload.rejectUpload
        resolve(body.bytes)
      })
      request.on('close', () => upload.rejectUpload?.(new IntakeError(400, 'the body is incomplete')))
    })
  }

  #grow(upload: Upload, bytes: number): void {
    upload.held += bytes
    this.#held += bytes
    if (upload.held > this.#limits.bodyBytes) upload.rejectUpload?.(this.#tooLarge())
    while (this.#held > this.#limits.totalBytes) {
      const oldest = [...this.#uploads].find(({ held, rejectUpload }) => held > 0 && rejectUpload !== undefined)
      if (oldest?.rejectUpload === undefined) return
      oldest.rejectUpload(new IntakeError(503, 'too many reviews: try again'))
    }
  }

  #release(upload: Upload): void {
    this.#held -= upload.held
    upload.held = 0
  }

  #tooLarge(): IntakeError {
    const { bodyBytes } = this.#limits
    return new IntakeError(413, `the review is larger than ${bodyBytes} bytes: list fewer objects at a time`)
  }
}

/** Copies chunks as they arrive: a chunk may be a small part of a large buffer, which it would keep in memory. */
class Body {
  #buffer = new Uint8Array(16_384)
  #length = 0

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(0, this.#length)
  }

  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.#buffer.length))
      larger.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = larger
    }
    this.#buffer.set(chunk, this.#length)
    this.#length = length
  }
}
