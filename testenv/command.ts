import { spawn } from 'node:child_process'

export interface CommandOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Runs a program and returns its standard output. The error of a failure has the command and its standard error. */
export async function runCommand(command: readonly string[], options: CommandOptions = {}): Promise<string> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    env: options.env ?? process.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (errors += chunk.toString()))
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  if (code !== 0) throw new Error(`${command.join(' ')} failed (${String(code)}): ${errors.trim() || out.trim()}`)
  return out
}
