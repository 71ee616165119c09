/** The cron expressions that `schedule` of a TrainingSchedule accepts: those of a CronJob. */

/** A field: `*` or `?`, a value or a range, each with an optional step; or a list of them. */
function field(value: string): string {
  const part = `([*?]|${value}(-${value})?)(/[1-9][0-9]?)?`
  return `${part}(,${part})*`
}

const MONTHS = '(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)'
const WEEKDAYS = '(?i:sun|mon|tue|wed|thu|fri|sat)'

const FIELDS = [
  field('[0-5]?[0-9]'),
  field('([01]?[0-9]|2[0-3])'),
  field('(0?[1-9]|[12][0-9]|3[01])'),
  field(`(0?[1-9]|1[0-2]|${MONTHS})`),
  field(`([0-6]|${WEEKDAYS})`),
]

/** A regular expression in the syntax of RE2, which CEL uses. */
export const CRON = `^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|${FIELDS.join('[ ]+')})$`

/** The name of an IANA time zone. Whether the zone exists is known only to the operator. */
export const TIME_ZONE = '^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$'
