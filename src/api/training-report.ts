/**
 * The protocol between a training pod and the operator: a pod sends its progress by POST, with a token that is bound to
 * the pod. docs/training.md describes the bodies.
 */

/** Audience of the tokens that pods send. */
export const REPORT_AUDIENCE = 'ml-operator'
/** Port of the operator's Service. */
export const REPORT_PORT = 9444
export const MAX_REPORT_BYTES = 64 * 1024
/** Metrics of a job in its status. */
export const MAX_METRICS = 32

export const reportPath = (namespace: string, job: string): string =>
  `/v1/namespaces/${namespace}/trainingjobs/${job}/progress`

/** The path of the wire format of Kubeflow's KEP-2779. */
export const kubeflowReportPath = (namespace: string, job: string): string =>
  `/apis/trainer.kubeflow.org/v1alpha1/namespaces/${namespace}/trainjobs/${job}/status`

export interface ReportedCheckpoint {
  readonly path: string
  readonly step?: number
  /** When the operator first received it, in milliseconds since the epoch. Set by the operator. */
  readonly reportedAt?: number
}

/** One report. All numbers are finite. */
export interface ProgressReport {
  readonly epoch?: number
  readonly totalEpochs?: number
  readonly step?: number
  readonly totalSteps?: number
  /** From 0 to 100. Otherwise it follows from steps or epochs. */
  readonly percent?: number
  /** Estimated by the training code. */
  readonly remainingSeconds?: number
  readonly metrics?: Readonly<Record<string, number>>
  readonly checkpoint?: ReportedCheckpoint
  /** Time at the pod, in milliseconds since the epoch. Orders the reports of a pod. */
  readonly time?: number
}

/** By precedence: while one speaks, those after it are ignored. */
export const reportSources = ['Report', 'Metrics', 'Log'] as const
export type ReportSource = (typeof reportSources)[number]

/** Everything that a pod has reported: later values replace earlier ones. */
export interface PodProgress {
  readonly podUid: string
  readonly source: ReportSource
  /** When the last report arrived, in milliseconds since the epoch. */
  readonly receivedAt: number
  readonly report: ProgressReport
}

/** The pod that progress is read from, if the pods of its job do not send it. */
export interface ProgressTarget {
  readonly pod: {
    readonly namespace: string
    readonly name: string
    readonly uid: string
    /** The training container. */
    readonly container: string
    readonly ip?: string
    readonly isHostNetwork?: boolean
  }
  /** `spec.progress.metrics`. */
  readonly metrics?: { readonly port: number; readonly path: string }
}
