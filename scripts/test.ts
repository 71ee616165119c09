/**
 * Runs the test levels and prints one closing line, `N passed, N failed[, N skipped]`.
 *
 *   unit           code without a cluster
 *   controlplane   with a real API server, shared by all files
 *   machine        starts and removes clusters with a node, and compares the machine before and after: nothing runs beside it
 *   node           with a real kubelet, one cluster for all files; one file at a time
 *   rbac           compares the calls that the other levels observed with the operator's roles
 *
 * Usage: scripts/test.ts [LEVEL | FILE ...]. Default: every level.
 */

import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

import { startCluster } from '../testenv/cluster.ts'
import { startControlPlane } from '../testenv/control-plane.ts'
import { elapsed } from '../testenv/progress.ts'
import { missingForNode } from '../testenv/requirements.ts'

interface Level {
  readonly name: string
  readonly files: readonly string[]
  readonly concurrency: number
  readonly coverage?: boolean
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
  { name: 'rbac', files: globSync('test/rbac/**/*.test.ts'), concurrency: 1 },
]

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
  try {
    await runFiles(level, files)
    if (files.length === level.files.length) complete.add(level.name)
  } finally {
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
  const stream = run({
    files: [...files],
    concurrency: level.concurrency,
    ...(level.coverage
      ? { coverage: true, coverageIncludeGlobs: ['src/**/*.ts'], coverageExcludeGlobs: ['**/*.test.ts'] }
      : {}),
  })
  stream.on('test:pass', (test) => {
    if (test.skip !== undefined || test.todo !== undefined) tally.skipped++
    else if (test.details.type !== 'suite') tally.passed++
  })
  stream.on('test:fail', () => void tally.failed++)
  stream.on('test:coverage', ({ summary: { totals } }) => {
    process.stdout.write(`coverage of src by unit tests: ${totals.coveredLinePercent.toFixed(1)} % of lines\n`)
  })
  const report = stream.compose(new spec())
  for await (const chunk of report) process.stdout.write(chunk)
}

const wanted = process.argv.slice(2)
const calls = mkdtempSync(join(tmpdir(), 'calls-'))
process.env['TEST_CALLS'] = calls
for (const level of levels) {
  process.env['TEST_COMPLETE'] = [...complete].join(' ')
  const named = wanted.length === 0 || wanted.includes(level.name)
  const files = named ? level.files : level.files.filter((file) => wanted.includes(file))
  if (files.length > 0) await runLevel(level, files)
}
rmSync(calls, { recursive: true })
const { passed, failed, skipped } = tally
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0
