/** docs/reference/events.md and conditions.md list the reasons and types that the code writes, and no others. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ON_SCHEDULE, READY } from '../../src/plan/schedule/conditions.ts'
import { CONFLICT } from '../../src/plan/rejection.ts'
import { conditionTypes as servingTypes } from '../../src/plan/serving/report/conditions.ts'
import { METRICS } from '../../src/plan/serving/report/metrics-source.ts'
import { rolloutConditionTypes } from '../../src/plan/serving/report/rollout.ts'
import { CHECKPOINT_HEALTHY } from '../../src/plan/training/report/checkpoint.ts'
import {
  CHANGE_PENDING,
  conditionTypes as trainingTypes,
  PROGRESS_UNAVAILABLE,
  STALLED,
} from '../../src/plan/training/report/conditions.ts'
import { RESIZE_PENDING } from '../../src/plan/training/report/resize.ts'
import { MODEL_REGISTERED, TRACKED } from '../../src/plan/training/report/tracking.ts'
import { MODEL_DEPLOYED } from '../../src/plan/training/steps/deployment.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const LIMITED = 'Limited'

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const sources = globSync('src/{api,plan,reconcile,agent/fetch}/**/*.ts', { cwd: ROOT })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: read(path) }))
const sorted = (values: Iterable<string>): string[] => [...new Set(values)].toSorted()
const literals = (text: string): string[] => [...text.matchAll(/'([A-Z]\w+)'/g)].map(([, word = '']) => word)

/** The first column of the tables of a page, or of one of its sections. */
function listed(page: string, section?: string): string[] {
  const text = read(`docs/reference/${page}.md`)
  const parts = text.split(/^#+ /m)
  const own = section === undefined ? parts : parts.filter((part) => part.startsWith(`${section}\n`))
  return own.flatMap((part) => [...part.matchAll(/^\| `(\w+)`/gm)].map(([, word = '']) => word))
}

/** Reasons of events: first arguments of the functions that build them, and objects with a type. */
function eventReasons(text: string): string[] {
  const built = [...text.matchAll(/\b(?:normal|warning)\(\s*([^,]+),/g)]
  const typed = [...text.matchAll(/(?:type: '(?:Normal|Warning)', reason: |note\('(?:Normal|Warning)', )('\w+')/g)]
  return [...built, ...typed].flatMap(([, argument = '']) => literals(argument))
}

/** Phases of a rollout and their events. */
const ofPhases = (text: string): string[] => literals(/const reasons:[^=]*= \{([^}]*)\}/.exec(text)?.[1] ?? '')

/** Reasons of conditions: those in objects, and those that are passed to the functions that build them. */
function conditionReasons(text: string): string[] {
  const inObjects = [...text.matchAll(/(type: '\w+', )?\b(?:reason|createdReason)(?::| =(?!=)) (?!string)([^,;\n]*)/g)]
  const passed = [...text.matchAll(/\b(?:trueCondition\(\w+|verdict\(job, '\w+'|stay\('\w+'|failed\(\w+), ('\w+')/g)]
  const ended = [...text.matchAll(/\bend\(('\w+')/g)]
  return [
    ...inObjects.filter(([, type]) => type === undefined).flatMap(([, , value = '']) => literals(value)),
    ...[...passed, ...ended].flatMap(([, word = '']) => literals(word)),
  ]
}

test('events.md lists all reasons of events', () => {
  const found = sources.flatMap(({ path, text }) => [
    ...eventReasons(text),
    ...(path.endsWith('rollout-events.ts') ? ofPhases(text) : []),
  ])
  assert.deepEqual(sorted(listed('events')), sorted([...found, CONFLICT]))
})

test('conditions.md lists all reasons in the code', () => {
  const plans = sources.filter(({ path }) => /^src\/(plan\/|reconcile\/|api\/limited)/.test(path))
  const known = new Set(listed('conditions'))
  const missing = plans.flatMap(({ path, text }) =>
    conditionReasons(text)
      .filter((reason) => !known.has(reason))
      .map((reason) => `${reason} in ${path}`),
  )
  assert.deepEqual(missing, [])
})

test('every reason in conditions.md is in the code', () => {
  const words = new Set(sources.flatMap(({ text }) => literals(text)))
  assert.deepEqual(
    listed('conditions').filter((word) => !words.has(word)),
    [],
  )
})

test('conditions.md lists the types of each kind', () => {
  const training = [
    ...trainingTypes,
    STALLED,
    PROGRESS_UNAVAILABLE,
    CHANGE_PENDING,
    RESIZE_PENDING,
    CHECKPOINT_HEALTHY,
    TRACKED,
    MODEL_REGISTERED,
    MODEL_DEPLOYED,
    LIMITED,
    CONFLICT,
  ]
  assert.deepEqual(sorted(listed('conditions', 'TrainingJob')), sorted(training))
  const serving = [...servingTypes, METRICS, ...rolloutConditionTypes, LIMITED, CONFLICT]
  assert.deepEqual(sorted(listed('conditions', 'ModelDeployment')), sorted(serving))
  assert.deepEqual(sorted(listed('conditions', 'TrainingSchedule')), sorted([READY, ON_SCHEDULE, CONFLICT]))
})
