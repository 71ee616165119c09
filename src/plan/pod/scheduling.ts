/** Where a pod may run: what the spec says, and what nodes with GPUs need. */

export interface Toleration {
  readonly key?: string
  readonly operator?: 'Exists' | 'Equal'
  readonly value?: string
  readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  readonly tolerationSeconds?: number
}

/** What a spec says about nodes. */
export interface SchedulingSpec {
  readonly schedulerName?: string
  readonly priorityClassName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly tolerations?: readonly Toleration[]
  readonly affinity?: object
}

/** What the administrator adds to the node selector and the tolerations of pods with GPUs. */
export interface GpuScheduling {
  readonly gpuNodeSelector?: Readonly<Record<string, string>>
  readonly gpuTolerations: readonly Toleration[]
}

/** The fields of a PodSpec. A node selector of the spec overrides that of the administrator, label by label. */
export function schedulingOf(spec: SchedulingSpec, usesGpus: boolean, gpu: GpuScheduling): object {
  const { schedulerName, priorityClassName, affinity } = spec
  const nodeSelector = { ...(usesGpus && gpu.gpuNodeSelector), ...spec.nodeSelector }
  const tolerations = [...(usesGpus ? gpu.gpuTolerations : []), ...(spec.tolerations ?? [])]
  return {
    ...(schedulerName !== undefined && { schedulerName }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations.length > 0 && { tolerations }),
    ...(affinity !== undefined && { affinity }),
  }
}
