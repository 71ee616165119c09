/** Runs an oracle in its own process, with or without a planted bug. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { join, resolve } from 'node:path'
import type { Edit } from './mutant.ts'
import type { Oracle } from './oracles.ts'

export type Verdict =
  | { readonly outcome: 'passed'; readonly ms: number }
  /** At least one test failed; `by` is the name of the first. */
  | { readonly outcome: 'failed'; readonly ms: number; readonly by: string }
  /** It did not end, and no test had failed. */
  | { readonly outcome: 'timeout'; readonly ms: number }
  /** It failed without a failed test: it could not start, or was killed. */
  | { readonly outcome: 'broken'; readonly ms: number; readonly stderr: string }

export interface JudgeOptions {
  readonly edit?: Edit
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

const ROOT = resolve(import.meta.dirname, '../..')
const HOOK = pathToFileURL(join(import.meta.dirname, 'load-hook.ts')).href
const KEPT = 2_000

export function judge(oracle: Oracle, options: JudgeOptions): Promise<Verdict> {
  const began = performance.now()
  return new Promise((done) => {
    const child = spawn(process.execPath, argumentsOf(oracle), {
      cwd: ROOT,
      env: environment(options),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const failures: string[] = []
    let stderr = ''
    // Kills the process group, with all children of the run.
    const end = (): boolean => process.kill(-(child.pid as number), 'SIGKILL')
    const timers = [setTimeout(end, options.timeoutMs)]
    createInterface(child.stdout).on('line', (line) => {
      const name = /^\s*not ok \d+ - (.*)$/.exec(line)?.[1]
      if (name === undefined) return
      failures.push(name)
      timers.push(setTimeout(end, graceOf(oracle)))
    })
    child.stderr.on('data', (text) => (stderr = `${stderr}${String(text)}`.slice(-KEPT)))
    child.on('close', (code) => {
      for (const timer of timers) clearTimeout(timer)
      const ms = Math.round(performance.now() - began)
      const [by] = failures
      if (by !== undefined) done({ outcome: 'failed', ms, by })
      else if (code === 0) done({ outcome: 'passed', ms })
      else if (ms >= options.timeoutMs) done({ outcome: 'timeout', ms })
      else done({ outcome: 'broken', ms, stderr: stderr.trim() })
    })
  })
}

/** How long a run may continue after its first failed test: a run on a cluster cleans up first. */
const graceOf = ({ needs }: Oracle): number => (needs === 'controlplane' ? 30_000 : 1_000)

function argumentsOf({ file, only, args = [] }: Oracle): string[] {
  const pattern = only === undefined ? [] : [`--test-name-pattern=/${escaped(only)}/`]
  return ['--test-reporter=tap', ...pattern, file, ...args]
}

const escaped = (text: string): string => text.replaceAll(/[/\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** The environment without variables of an outer test runner. */
function environment({ edit, env }: JudgeOptions): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _context, NODE_V8_COVERAGE: _coverage, NODE_OPTIONS = '', ...others } = process.env
  return {
    ...others,
    ...env,
    NODE_OPTIONS: `${NODE_OPTIONS} --import ${HOOK}`.trim(),
    ...(edit && { MUTANT: JSON.stringify(edit) }),
  }
}
