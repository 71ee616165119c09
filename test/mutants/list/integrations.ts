import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const reports = contract('src/integrations/router-reports.test.ts')

export const integrationsMutants: readonly Mutant[] = [
  {
    id: 'integrations/report-unbounded',
    file: 'src/integrations/router-reports.ts',
    what: 'A pod that answers without end fills the memory of the operator.',
    from: "if (length > MAX_REPORT) throw new Error('the report is too large')",
    to: '',
    caughtBy: reports,
  },
  {
    id: 'integrations/report-unchecked',
    file: 'src/integrations/router-reports.ts',
    what: 'A report with words in place of numbers is believed.',
    from: 'versions.every(isCounters)',
    to: 'versions.every((one) => one !== null)',
    caughtBy: reports,
  },
  {
    id: 'integrations/report-error-status',
    file: 'src/integrations/router-reports.ts',
    what: 'The body of an error counts as a report.',
    from: 'if (statusCode === 200)',
    to: 'if (statusCode > 0)',
    caughtBy: reports,
  },
  {
    id: 'integrations/report-many-versions',
    file: 'src/integrations/router-reports.ts',
    what: 'A report with any number of versions is believed.',
    from: ' || versions.length > MAX_VERSIONS',
    to: '',
    caughtBy: reports,
  },
  {
    id: 'integrations/rates-restart',
    file: 'src/integrations/router-rates.ts',
    what: 'A router that restarted is compared with its counters from before.',
    from: 'isRestarted ? undefined : known.get(counters.version)',
    to: 'known.get(counters.version)',
    caughtBy: reports,
  },
  {
    id: 'integrations/rates-each-look',
    file: 'src/integrations/router-rates.ts',
    what: 'Rates change with each look, and the status with them.',
    from: 'if (before && now - before.at < WINDOW_MS) return before',
    to: '',
    caughtBy: reports,
  },
]
