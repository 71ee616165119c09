/** Kills every process of a container with SIGKILL, as the kernel does when memory runs out. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import type { Pod } from '../../src/kube/resources.ts'

/** Works because the processes of pods run on this machine. */
export async function killContainer({ status }: Pod, container: string): Promise<void> {
  const found = status?.containerStatuses?.find(({ name }) => name === container)
  const id = found?.containerID?.replace(/^.*:\/\//, '')
  assert.ok(id, `${container} runs`)
  const isInside = (pid: string): Promise<boolean> =>
    readFile(`/proc/${pid}/cgroup`, 'utf8').then(
      (text) => text.includes(id),
      () => false,
    )
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const inside = await Promise.all(pids.map(isInside))
  const own = pids.filter((_, index) => inside[index])
  assert.notEqual(own.length, 0)
  for (const pid of own) process.kill(Number(pid), 'SIGKILL')
}
