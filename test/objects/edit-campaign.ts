/** Edits every field of every child of live objects by hand: each edit is repaired, rejected, or tolerated for a reason. */
import { ApiError } from '../../src/kube/errors.ts'
import { keyOf, type KubeObject, nameWithKind } from '../../src/kube/object.ts'
import { objectPath } from '../../src/kube/path.ts'
import { seeded, shuffled } from '../random/seeded.ts'
import { type HandEdit, handEdits } from './hand-edits.ts'
import { differences, isOwn, type Lane, resourceOf, type State } from './lane.ts'
import { OpenApi } from './openapi.ts'
import type { JsonPatchOperation } from './other-value.ts'
import { toleranceOf } from './tolerated.ts'

export type Verdict = 'repaired' | 'rejected' | 'ineffective' | 'tolerated' | 'violation'

export interface EditReport {
  readonly edits: number
  readonly verdicts: Readonly<Record<Verdict, number>>
  readonly violations: readonly string[]
}

export interface EditOptions {
  /** Opens a lane with its objects. */
  readonly open: () => Promise<Lane>
  readonly lanes: number
  readonly seed: number
  /** Number of edits, chosen by the seed. Default: all. */
  readonly sample?: number
  readonly onProgress?: (line: string) => void
}

interface ChildEdit extends HandEdit {
  readonly child: string
}

const describe = ({ child, what, path }: ChildEdit): string => `${what} ${child} ${path}`

export async function editCampaign(options: EditOptions): Promise<EditReport> {
  const { open, lanes, seed, sample, onProgress } = options
  const first = await open()
  const all = shuffled(seeded(seed), await editsOf(first))
  const chosen = all.slice(0, sample ?? all.length)
  const queue = [...chosen]
  const verdicts: Record<Verdict, number> = { repaired: 0, rejected: 0, ineffective: 0, tolerated: 0, violation: 0 }
  const violations: string[] = []
  let done = 0
  const work = async (given?: Lane): Promise<void> => {
    let bench = await EditBench.on(given ?? (await open()))
    for (let edit = queue.shift(); edit; edit = queue.shift()) {
      const { verdict, why } = await bench.judge(edit)
      verdicts[verdict] += 1
      if (verdict === 'violation') violations.push(`${describe(edit)}: ${why}`)
      done += 1
      onProgress?.(
        `edits by hand: ${done} of ${chosen.length}, ${violations.length} violations; ${verdict}: ${describe(edit)}`,
      )
      const isTouched = verdict === 'tolerated' || verdict === 'violation'
      if (isTouched && !(await bench.isRestored())) bench = await bench.reopened(open)
    }
    await bench.lane.stop()
  }
  await Promise.all([work(first), ...Array.from({ length: Math.min(lanes, chosen.length) - 1 }, () => work())])
  return { edits: chosen.length, verdicts, violations }
}

async function editsOf(lane: Lane): Promise<ChildEdit[]> {
  const openApi = new OpenApi(lane.client)
  const children = (await lane.objects()).filter((object) => !isOwn(object))
  const lists = children.map(async (object) => {
    const schema = await openApi.schemaOf(resourceOf(object))
    return handEdits(object, schema).map((edit) => ({ ...edit, child: nameWithKind(object) }))
  })
  return (await Promise.all(lists)).flat()
}

interface Judgement {
  readonly verdict: Verdict
  readonly why?: string
}

/** A lane and the state before and after every edit. */
class EditBench {
  readonly lane: Lane
  readonly #base: State
  readonly #children: ReadonlyMap<string, KubeObject>

  private constructor(lane: Lane, base: State, children: ReadonlyMap<string, KubeObject>) {
    this.lane = lane
    this.#base = base
    this.#children = children
  }

  static async on(lane: Lane): Promise<EditBench> {
    const base = await lane.converge()
    const objects = await lane.objects()
    return new EditBench(lane, base, new Map(objects.map((object) => [nameWithKind(object), object])))
  }

  async reopened(open: () => Promise<Lane>): Promise<EditBench> {
    await this.lane.stop()
    return EditBench.on(await open())
  }

  async judge(edit: ChildEdit): Promise<Judgement> {
    const child = this.#children.get(edit.child)
    if (!child) return { verdict: 'violation', why: 'the child does not exist' }
    const outcome = await this.#attempt(child, edit.candidates)
    if (outcome !== 'accepted') return { verdict: outcome }
    try {
      const left = differences(this.#base, await this.lane.converge())
      if (left.length === 0) return { verdict: 'repaired' }
      if (toleranceOf(child.kind, edit.path)) return { verdict: 'tolerated' }
      return { verdict: 'violation', why: left.slice(0, 5).join('; ') }
    } catch (error) {
      return { verdict: 'violation', why: String(error) }
    }
  }

  async isRestored(): Promise<boolean> {
    try {
      if (differences(this.#base, await this.lane.converge()).length === 0) return true
      for (const object of this.#children.values()) if (!isOwn(object)) await this.#restore(object)
      return differences(this.#base, await this.lane.converge()).length === 0
    } catch {
      return false
    }
  }

  async #attempt(
    child: KubeObject,
    candidates: readonly JsonPatchOperation[],
  ): Promise<'accepted' | 'rejected' | 'ineffective'> {
    const { client } = this.lane
    const resource = resourceOf(child)
    const before = await client.get(resource, keyOf(child))
    for (const operation of candidates) {
      try {
        const path = objectPath(resource, keyOf(child))
        const contentType = 'application/json-patch+json'
        const query = { fieldManager: 'by-hand' }
        const body = [operation]
        const after = (await client.request({ method: 'PATCH', path, query, body, contentType })) as KubeObject
        return after.metadata.resourceVersion === before.metadata.resourceVersion ? 'ineffective' : 'accepted'
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
      }
    }
    return 'rejected'
  }

  /** Restores the object, if it is still the same one. */
  async #restore(object: KubeObject): Promise<void> {
    const { client } = this.lane
    const resource = resourceOf(object)
    const now = await client.get(resource, keyOf(object)).catch(() => undefined)
    if (!now) return
    const { resourceVersion = '', uid = '' } = now.metadata
    const metadata = { ...object.metadata, resourceVersion, uid }
    await client.update(resource, { ...object, metadata }, { fieldManager: 'by-hand' }).catch(() => undefined)
  }
}
