/** What the kernel counts for a process. Linux only. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Usage {
  /** User and system time. */
  readonly cpuSeconds: number
  readonly residentMiB: number
  /** The highest since the start of the process. */
  readonly peakMiB: number
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

export function usageOf(pid: number): Usage {
  // The name of the program is in parentheses and can have spaces.
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const fields = rest.split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    residentMiB: mebibytes('VmRSS'),
    peakMiB: mebibytes('VmHWM'),
  }
}
