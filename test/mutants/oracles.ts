/**
 * The runs that judge mutants. Each is a test file, a selection of its tests, or one scenario of the crash tests. A run passes
 * on the real source. On a mutant, a test has to fail.
 */

export type OracleKind =
  /** Tests that state the guarantees of a module, or of all providers of one interface. */
  | 'contract suite'
  /** Random inputs checked against invariants. */
  | 'property tests'
  /** Random histories on a simulated cluster, judged after every write. */
  | 'simulated histories'
  /** Scenarios on a real API server, with crashes of the operator, judged by the crash oracles. */
  | 'crash scenario'
  /** The real Envoy. */
  | 'real Envoy'

export interface Oracle {
  readonly kind: OracleKind
  readonly file: string
  /** Part of the names of the tests to run. Default: all tests of the file. */
  readonly only?: string
  /** Arguments for the file. */
  readonly args?: readonly string[]
  /** What it needs besides the code. */
  readonly needs?: 'controlplane'
}

export const oracleName = ({ file, only, args = [] }: Oracle): string =>
  [file, ...args, ...(only === undefined ? [] : [`“${only}”`])].join(' ')

type Run = (file: string, only?: string) => Oracle

const run =
  (kind: OracleKind, needs?: Oracle['needs']): Run =>
  (file, only) => ({ kind, file, ...(only !== undefined && { only }), ...(needs && { needs }) })

export const contract = run('contract suite')
export const properties = run('property tests')
export const histories = run('simulated histories')
export const envoy = run('real Envoy')
/** A contract that only a real API server can judge. */
export const serverContract = run('contract suite', 'controlplane')

export const trainingProperties = properties(
  'src/plan/training/lifecycle.properties.test.ts',
  'engine pods: the oracles hold',
)
export const servingHistories = histories('test/mutants/runs/serving-histories.ts')
export const trafficContract = contract('src/plan/traffic/contract.test.ts')
export const routerTests = contract('src/plan/traffic/providers/router/router.test.ts')
export const replicasTests = contract('src/plan/traffic/providers/replicas.test.ts')

/** A crash scenario; for `faults` see test/mutants/runs/crash-scenario.ts. */
export function crashScenario(workload: 'training' | 'serving', scenario: string, faults = 'none'): Oracle {
  const args = [workload, scenario, faults]
  return { kind: 'crash scenario', file: 'test/mutants/runs/crash-scenario.ts', args, needs: 'controlplane' }
}
