/**
 * A real MLflow server with a SQLite database. The packages come from PyPI into the user's cache, without those that only the
 * client needs: about 170 MB instead of 800.
 */

import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { cacheDirectory } from './cache-directory.ts'
import { runCommand } from './command.ts'
import { Component, reportExit } from './component.ts'
import { withFileLock } from './file-lock.ts'
import { answersOk } from './http-probe.ts'
import { freePorts } from './ports.ts'
import { startProgress } from './progress.ts'
import { startRun } from './run.ts'
import { tearDown } from './run-directory.ts'

const VERSION = '3.6.0'
const PACKAGES = [
  `mlflow-skinny==${VERSION}`,
  'alembic==1.20.1',
  'cryptography==50.0.2',
  'flask==3.1.3',
  'flask-cors==6.0.5',
  'graphene==3.4.3',
  'sqlalchemy==2.0.44',
]

export interface MlflowServer {
  readonly url: string
  /** Starts it again after `kill`, with the same database. */
  start(): Promise<void>
  /** Kills it with SIGKILL, as a crash. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export async function startMlflow(): Promise<MlflowServer> {
  const python = join(await provideMlflow(), 'bin', 'python')
  return startRun({}, async (runDirectory) => {
    const [port = 0] = await freePorts(1)
    const url = `http://127.0.0.1:${port}`
    const store = ['--backend-store-uri', `sqlite:///${join(runDirectory, 'mlflow.db')}`]
    const place = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1']
    const command = [python, '-m', 'mlflow', 'server', ...store, ...place]
    const env = { MLFLOW_DISABLE_TELEMETRY: 'true', HOME: runDirectory }
    const ready = (): Promise<boolean> => answersOk(`${url}/health`)
    const server = await new Component(runDirectory, { name: 'mlflow', command, env, ready }, reportExit).start()
    const kill = (): Promise<void> => killGroup(server)
    const stop = async (): Promise<void> => {
      await kill()
      await tearDown(runDirectory)
    }
    return { url, start: async () => void (await server.start()), kill, stop }
  })
}

/** The command starts the web server as a process of its own, in the same process group. */
async function killGroup(server: Component): Promise<void> {
  const group = server.pid
  await server.kill()
  process.kill(-group, 'SIGKILL')
  while (isAlive(group)) await delay(10)
}

function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0)
  } catch {
    return false
  }
}

async function provideMlflow(): Promise<string> {
  const target = join(cacheDirectory('mlflow'), `${VERSION}-${process.arch}`)
  await withFileLock(`${target}.lock`, async () => void (existsSync(target) || (await install(target))), 'MLflow')
  return target
}

async function install(target: string): Promise<void> {
  const progress = startProgress('fetching the Python packages of MLflow', 'about 170 MB')
  const scratch = await mkdtemp(join(cacheDirectory('mlflow'), '.install-'))
  const environment = join(scratch, 'environment')
  try {
    await runCommand(['python3', '-m', 'venv', environment])
    const pip = [join(environment, 'bin', 'python'), '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await runCommand([...pip, '--only-binary=:all:', ...PACKAGES])
    await rename(environment, target)
    progress.done()
  } catch (error) {
    progress.done('failed')
    throw error
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
