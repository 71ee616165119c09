/** The progress of a fetch: one line every few seconds in the log of the container. */
import { durationText, sizeText } from '../transfer/size.ts'

const EVERY_MS = 5_000
/** The rate is that of the latest samples. */
const MAX_SAMPLES = 6

export class Progress {
  readonly #total: number | undefined
  readonly #log: (line: string) => void
  readonly #samples: { readonly at: number; readonly bytes: number }[] = []
  #done: number
  #timer: NodeJS.Timeout | undefined

  /** `total` is undefined if the server does not report it. `done` is what an earlier run has fetched. */
  constructor(total: number | undefined, done: number, log: (line: string) => void) {
    this.#total = total
    this.#done = done
    this.#log = log
  }

  start(everyMs = EVERY_MS): void {
    this.#samples.push({ at: performance.now(), bytes: this.#done })
    this.#timer = setInterval(() => this.#log(this.line(performance.now())), everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Negative if bytes have to be received again. */
  add(bytes: number): void {
    this.#done += bytes
  }

  line(now: number): string {
    const oldest = this.#samples[0] ?? { at: now, bytes: this.#done }
    const rate = now > oldest.at ? Math.max(0, ((this.#done - oldest.bytes) * 1_000) / (now - oldest.at)) : 0
    this.#samples.push({ at: now, bytes: this.#done })
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift()
    const speed = `${sizeText(Math.round(rate))}/s`
    if (this.#total === undefined) return `${sizeText(this.#done)} · ${speed}`
    const percent = this.#total === 0 ? 100 : Math.floor((this.#done / this.#total) * 100)
    const left = rate > 0 ? ` · ${durationText((this.#total - this.#done) / rate)} left` : ''
    return `${percent} % · ${sizeText(this.#done)} of ${sizeText(this.#total)} · ${speed}${left}`
  }
}
