/**
 * Runs the test levels and prints one closing line, `N passed, N failed[, N skipped]`.
 *
 *   unit           code without a cluster
 *   controlplane   with a real API server, shared by all files
 *   machine        starts and removes clusters with a node, and compares the machine before and after: nothing runs beside it
 *   node           with a real kubelet, one cluster for all files; one file at a time
 *   e2e            the same, for tests that take long; runs only if it is named
 *   rbac           compares the calls that the other levels observed with the operator's roles
 *
 * Usage: scripts/test.ts [LEVEL | FILE ...]. Default: every level except e2e.
 */

import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

import { coverageOf, type FileCoverage, percentOf } from './coverage.ts'
import { startCluster } from '../testenv/cluster.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed } from '../testenv/progress.ts'
import { missingForNode } from '../testenv/requirements.ts'

interface Level {
  readonly name: string
  readonly files: readonly string[]
  readonly concurrency: number
  /** Its processes count for the coverage. */
  readonly coverage?: boolean
  /** Runs only if it is named. */
  readonly onRequest?: boolean
  /** Starts what the files share. */
  readonly share?: () => Promise<Shared>
  /** What the machine lacks for this level; then its files are skipped. */
  readonly missing?: () => readonly string[]
}

interface Shared {
  /** Environment variables for the test files. */
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const tally = { passed: 0, failed: 0, skipped: 0 }

const levels: readonly Level[] = [
  {
    name: 'unit',
    files: globSync(['src/**/*.test.ts', 'testenv/**/*.test.ts', 'test/unit/**/*.test.ts']),
    concurrency: availableParallelism(),
    coverage: true,
  },
  {
    name: 'controlplane',
    files: globSync('test/controlplane/**/*.test.ts'),
    concurrency: availableParallelism(),
    coverage: true,
    share: shareControlPlane,
  },
  {
    name: 'machine',
    files: globSync('test/machine/**/*.test.ts'),
    concurrency: 1,
    missing: missingForNode,
  },
  {
    name: 'node',
    files: globSync('test/node/**/*.test.ts'),
    concurrency: 1,
    share: shareNode,
    missing: missingForNode,
  },
  {
    name: 'e2e',
    files: globSync('test/e2e/**/*.test.ts'),
    concurrency: 1,
    onRequest: true,
    share: shareNode,
    missing: missingForNode,
  },
  { name: 'rbac', files: globSync('test/rbac/**/*.test.ts'), concurrency: 1 },
]

/** Folders whose coverage has a floor. */
const COVERED = ['src/plan', 'src/runtime', 'src/kube']
const COVERAGE_FLOOR = 95

/** What V8 writes about the processes of the levels with coverage. */
const coverage = mkdtempSync(join(tmpdir(), 'coverage-'))

/** Levels of which every file has run. */
const complete = new Set<string>()

async function shareControlPlane(): Promise<Shared> {
  if (process.env['TEST_KUBECONFIG'] !== undefined) return { env: {}, stop: async () => {} }
  const plane = await startControlPlane()
  return { env: { TEST_KUBECONFIG: plane.kubeconfig }, stop: () => plane.stop() }
}

async function shareNode(): Promise<Shared> {
  const cluster = await startCluster({ gpus: 1, metricsServer: true })
  return { env: { TEST_NODE: cluster.runDirectory }, stop: () => cluster.stop() }
}

async function runLevel(level: Level, files: readonly string[]): Promise<void> {
  const began = Date.now()
  const missing = level.missing?.() ?? []
  if (missing.length > 0) return skip(level, files, missing)
  process.stdout.write(`\n=== ${level.name}: ${files.length} files ===\n`)
  const shared = await level.share?.()
  Object.assign(process.env, shared?.env)
  // Inherited by the test files, and by the operators that they start.
  if (level.coverage) process.env['NODE_V8_COVERAGE'] = coverage
  try {
    await runFiles(level, files)
    if (files.length === level.files.length) complete.add(level.name)
  } finally {
    delete process.env['NODE_V8_COVERAGE']
    await shared?.stop()
    for (const name of Object.keys(shared?.env ?? {})) delete process.env[name]
  }
  process.stdout.write(`=== ${level.name}: ${elapsed(Date.now() - began)} ===\n`)
}

function skip(level: Level, files: readonly string[], missing: readonly string[]): void {
  tally.skipped += files.length
  const lines = [
    `SKIPPED: ${files.length} files of the level '${level.name}', because this machine lacks`,
    ...missing.map((line) => `  - ${line}`),
  ]
  process.stdout.write(`\n${'!'.repeat(80)}\n${lines.join('\n')}\n${'!'.repeat(80)}\n`)
}

async function runFiles(level: Level, files: readonly string[]): Promise<void> {
  const stream = run({ files: [...files], concurrency: level.concurrency })
  stream.on('test:pass', (test) => {
    if (test.skip !== undefined || test.todo !== undefined) tally.skipped++
    else if (test.details.type !== 'suite') tally.passed++
  })
  stream.on('test:fail', () => void tally.failed++)
  const report = stream.compose(new spec())
  for await (const chunk of report) process.stdout.write(chunk)
}

/** Prints the coverage of folders by the levels that were run as a whole. Below the floor, a complete run fails. */
function reportCoverage(): void {
  const covering = levels.filter((level) => level.coverage)
  const whole = covering.filter(({ name }) => complete.has(name))
  if (whole.length === 0) return
  process.stdout.write(`\ncoverage by the levels ${whole.map(({ name }) => name).join(' and ')}:\n`)
  for (const folder of COVERED) {
    const files = coverageOf(coverage, folder)
    const percent = percentOf(files)
    const isTooLow = whole.length === covering.length && percent < COVERAGE_FLOOR
    if (isTooLow) tally.failed++
    process.stdout.write(
      `  ${folder}: ${percent.toFixed(1)} % of lines${isTooLow ? ` (less than ${COVERAGE_FLOOR} %)` : ''}\n`,
    )
    for (const { file, missed, lines } of leastCovered(files))
      process.stdout.write(`    ${file}: ${missed.length} of ${lines} lines, first ${missed.slice(0, 5).join(', ')}\n`)
  }
}

function leastCovered(files: readonly FileCoverage[]): FileCoverage[] {
  const found = files.filter(({ missed }) => missed.length > 0)
  return found.toSorted((one, other) => other.missed.length - one.missed.length).slice(0, 3)
}

const wanted = process.argv.slice(2)
const calls = mkdtempSync(join(tmpdir(), 'calls-'))
process.env['TEST_CALLS'] = calls
for (const level of levels) {
  process.env['TEST_COMPLETE'] = [...complete].join(' ')
  const named = (wanted.length === 0 && level.onRequest !== true) || wanted.includes(level.name)
  const files = named ? level.files : level.files.filter((file) => wanted.includes(file))
  if (files.length > 0) await runLevel(level, files)
}
reportCoverage()
for (const directory of [calls, coverage]) rmSync(directory, { recursive: true })
const { passed, failed, skipped } = tally
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
