/** Parses the page of NVIDIA's DCGM exporter: the utilization of the GPUs of each pod. */

const SAMPLE = /^DCGM_FI_DEV_GPU_UTIL\{(.*)\}\s+(\S{1,32})/
const LABEL = /(?:^|,)\s*(namespace|pod)="([a-z0-9.-]{1,253})"/g
const MAX_LINE = 4_096
const MAX_LINES = 100_000
const MAX_PODS = 1_024
/** Of a pod, with the instances of MIG. */
const MAX_GPUS = 128

export const podKey = (namespace: string, name: string): string => `${namespace}/${name}`

/** Average in percent, by `podKey`. GPUs without a pod are omitted. */
export function parseGpuPage(page: string): Map<string, number> {
  const all = new Map<string, number[]>()
  for (const line of page.split('\n', MAX_LINES)) {
    const { key, percent } = sampleIn(line) ?? {}
    if (key === undefined || percent === undefined || (all.size >= MAX_PODS && !all.has(key))) continue
    all.set(key, [...(all.get(key) ?? []), percent].slice(0, MAX_GPUS))
  }
  return new Map([...all].map(([key, values]) => [key, values.reduce((sum, one) => sum + one, 0) / values.length]))
}

function sampleIn(line: string): { readonly key: string; readonly percent: number } | undefined {
  const [, labels = '', text] = line.length <= MAX_LINE ? (SAMPLE.exec(line) ?? []) : []
  const percent = Number(text)
  const { namespace, pod } = Object.fromEntries([...labels.matchAll(LABEL)].map(([, name, value]) => [name, value]))
  if (namespace === undefined || pod === undefined || !(percent >= 0 && percent <= 100)) return undefined
  return { key: podKey(namespace, pod), percent }
}
