/** When a model is looked at again although nothing changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providers } from '../../traffic/index.ts'
import type { Decisions } from '../decisions.ts'
import type { ModelView } from '../observe/view.ts'
import { requeueAfter } from './requeue.ts'

interface Given {
  readonly active?: readonly ('direct' | 'router')[]
  readonly isSettling?: boolean
  readonly drainEndsAt?: number
  readonly retirements?: readonly (number | undefined)[]
  readonly isAsked?: boolean
}

const NOW = 1_000_000

function looksAgain({ active = ['direct'], isSettling = false, drainEndsAt, retirements = [], isAsked }: Given) {
  const decisions = {
    routing: {
      active: active.map((name) => ({ provider: providers.of(name) })),
      isSettling,
      ...(drainEndsAt !== undefined && { drainEndsAt: NOW + drainEndsAt }),
    },
    versions: retirements.map((endsAt) => ({
      retirement: { isOver: false, ...(endsAt !== undefined && { endsAt: NOW + endsAt }) },
      replacement: {},
    })),
  }
  const measured = isAsked === undefined ? {} : { measured: { isAsked, pollMs: 30_000, rateSeconds: 60 } }
  return requeueAfter({ now: NOW, observed: measured } as ModelView, decisions as unknown as Decisions)
}

const table: readonly (readonly [string, Given, number | undefined])[] = [
  ['never, if everything is watched', {}, undefined],
  ['after a while, if a proxy must be asked', { active: ['router'] }, 15_000],
  ['after a while, if Prometheus must be asked', { isAsked: true }, 30_000],
  ['never, if Prometheus has nothing to say', { isAsked: false }, undefined],
  ['soon, while a provider converges', { active: ['router'], isSettling: true }, 1000],
  ['when the old provider has drained', { drainEndsAt: 7000 }, 7000],
  ['when the first version has drained', { retirements: [undefined, 9000, 4000] }, 4000],
  ['at once, if that time has passed', { retirements: [-5] }, 0],
  ['at the earliest of these', { active: ['router'], drainEndsAt: 20_000, retirements: [16_000] }, 15_000],
]

for (const [what, given, ms] of table) test(`requeue: ${what}`, () => assert.equal(looksAgain(given), ms))
