/** Tracking in MLflow: builds the client and the tracker of the configured server, and their metrics. */
import { mlflowClient, type MlflowConfig } from './integrations/mlflow/mlflow-client.ts'
import { Tracker } from './integrations/mlflow/tracker.ts'
import { LazyGauge, type Manager } from './runtime/index.ts'

export interface Tracking {
  /** For the training controller. */
  readonly source: { readonly tracker: Tracker }
  close(): Promise<void>
}

/** Undefined without a server. */
export async function startTracking(config: MlflowConfig, manager: Manager): Promise<Tracking | undefined> {
  if (config.url === '') return undefined
  const client = await mlflowClient(config)
  const tracker = new Tracker({ client, config, clock: manager.clock })
  addGauges(tracker, manager)
  return {
    source: { tracker },
    close: () => {
      tracker.close()
      return client.close()
    },
  }
}

function addGauges({ points }: Tracker, { metrics }: Manager): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new LazyGauge({ name, help, labelNames: [] }, () => [[{}, read()]], metrics.registry)
  gauge('trainingjob_tracking_points', 'Metrics of jobs in memory that MLflow does not have yet', () => points.size)
  gauge(
    'trainingjob_tracking_dropped_points',
    'Metrics of jobs that did not fit into memory or that MLflow rejected, since the start',
    () => points.dropped,
  )
}
