/** Series that make each alert fire within three hours, in the notation of promtool, one value per minute. */

export interface Series {
  readonly series: string
  readonly values: string
}

const JOB = 'namespace="team-a",name="bert"'
const OF_JOB = 'namespace="team-a",trainingjob="bert"'
const MODEL = 'namespace="team-a",group="ml.example.com",name="sentiment"'
const ROUTED = 'namespace="team-a",model="sentiment",version="v1",pod="r"'
const errors = 'ml_operator_reconcile_errors_total'

const one = (series: string, values: string): Series => ({ series, values })
const always = (series: string, value: number | string): Series => one(series, `${value}x180`)
const running = always(`trainingjob_state{${JOB},state="Running"}`, 1)
const leading = always('ml_operator_leader_election_leading{instance="a"}', 1)

/** The operator leads in all cases but those about this. */
export const firing: Readonly<Record<string, readonly Series[]>> = {
  MLOperatorDown: [one('ml_operator_leader_election_leading{instance="a"}', '1x10')],
  MLOperatorNoLeader: [always('ml_operator_leader_election_leading{instance="a"}', 0)],
  MLOperatorReconcileErrors: [
    one(`${errors}{controller="trainingjob",class="external",code="QuotaExceeded"}`, '0+1x180'),
  ],
  MLOperatorUnexpectedErrors: [
    one(`${errors}{controller="trainingjob",class="transient",code="Unexpected"}`, '0+1x180'),
  ],
  MLOperatorQueueSlow: [
    one('ml_operator_workqueue_wait_seconds_bucket{controller="trainingjob",le="30"}', '0x180'),
    one('ml_operator_workqueue_wait_seconds_bucket{controller="trainingjob",le="60"}', '0+10x180'),
    one('ml_operator_workqueue_wait_seconds_bucket{controller="trainingjob",le="+Inf"}', '0+10x180'),
  ],
  MLOperatorApiErrors: [
    one('ml_operator_kube_requests_total{verb="patch",kind="TrainingJob",code="200"}', '0+90x180'),
    one('ml_operator_kube_requests_total{verb="patch",kind="TrainingJob",code="503"}', '0+10x180'),
  ],
  MLOperatorEventLoopBlocked: [always('ml_operator_event_loop_delay_seconds{instance="a",quantile="0.99"}', 0.8)],
  MLOperatorCertificateExpiring: [always('ml_operator_webhook_certificate_expiry_seconds', 86_400)],
  MLOperatorMetricsOmitted: [always('trainingjob_objects_omitted', 7), always('model_deployment_objects_omitted', 0)],
  TrainingJobFailed: [one('trainingjob_failed_total{namespace="team-a",reason="DeadlineExceeded"}', '_x170 1x10')],
  TrainingJobPending: [always(`trainingjob_state{${JOB},state="Pending"}`, 1)],
  TrainingJobNotStarting: [always(`trainingjob_state{${JOB},state="Restarting"}`, 1)],
  TrainingJobStalled: [running, always(`trainingjob_progress_percent{${OF_JOB}}`, 45)],
  TrainingJobGpusIdle: [running, always(`trainingjob_gpu_utilization_percent{${OF_JOB},worker="all"}`, 1)],
  ModelDeploymentFailed: [always(`model_deployment_phase{${MODEL},phase="Failed"}`, 1)],
  ModelDeploymentDegraded: [always(`model_deployment_phase{${MODEL},phase="Degraded"}`, 1)],
  ModelDeploymentPending: [always(`model_deployment_phase{${MODEL},phase="Pending"}`, 1)],
  ModelVersionWithoutPods: [
    always(`model_version_weight_percent{${MODEL},version="v1"}`, 100),
    always(`model_version_healthy_replicas{${MODEL},version="v1"}`, 0),
  ],
  ModelValidationFailed: [one('model_validations_total{status="failed"}', '2x170 3x10')],
  ModelErrorRate: [
    one(`model_router_requests_total{${ROUTED}}`, '0+100x180'),
    one(`model_router_errors_total{${ROUTED}}`, '0+20x180'),
  ],
  ModelLatencyHigh: [always(`model_router_request_duration_seconds{${ROUTED},quantile="0.99"}`, 9)],
}

/** Whether a case is about leadership itself. */
const isLeadership = (alert: string): boolean => alert === 'MLOperatorDown' || alert === 'MLOperatorNoLeader'

export const seriesFor = (alert: string): readonly Series[] => [
  ...(isLeadership(alert) ? [] : [leading]),
  ...(firing[alert] ?? []),
]

/** A healthy cluster with a long history: no alert fires. */
export const healthy: readonly Series[] = [
  leading,
  always('ml_operator_leader_election_leading{instance="b"}', 0),
  always(`${errors}{controller="trainingjob",class="external",code="QuotaExceeded"}`, 4),
  one(`${errors}{controller="trainingjob",class="transient",code="ApiConflict"}`, '0+1x180'),
  one('ml_operator_workqueue_wait_seconds_bucket{controller="trainingjob",le="0.1"}', '0+10x180'),
  one('ml_operator_workqueue_wait_seconds_bucket{controller="trainingjob",le="+Inf"}', '0+10x180'),
  one('ml_operator_kube_requests_total{verb="patch",kind="TrainingJob",code="200"}', '0+99x180'),
  one('ml_operator_kube_requests_total{verb="patch",kind="TrainingJob",code="503"}', '0+1x180'),
  always('ml_operator_event_loop_delay_seconds{instance="a",quantile="0.99"}', 0.01),
  always('ml_operator_webhook_certificate_expiry_seconds', 7_776_000),
  always('trainingjob_objects_omitted', 0),
  always('model_deployment_objects_omitted', 0),
  always('trainingjob_failed_total{namespace="team-a",reason="DeadlineExceeded"}', 5),
  running,
  one(`trainingjob_progress_percent{${OF_JOB}}`, '0+0.5x180'),
  always(`trainingjob_gpu_utilization_percent{${OF_JOB},worker="all"}`, 90),
  always('trainingjob_state{namespace="team-a",name="old",state="Failed"}', 1),
  always('trainingjob_progress_percent{namespace="team-a",trainingjob="old"}', 40),
  always(`model_deployment_phase{${MODEL},phase="Running"}`, 1),
  always(`model_version_weight_percent{${MODEL},version="v1"}`, 100),
  always(`model_version_healthy_replicas{${MODEL},version="v1"}`, 2),
  always(`model_version_weight_percent{${MODEL},version="v2"}`, 0),
  always(`model_version_healthy_replicas{${MODEL},version="v2"}`, 0),
  always('model_validations_total{status="failed"}', 3),
  one(`model_router_requests_total{${ROUTED}}`, '0+100x180'),
  one(`model_router_errors_total{${ROUTED}}`, '0+1x180'),
  always(`model_router_request_duration_seconds{${ROUTED},quantile="0.99"}`, 0.2),
]
