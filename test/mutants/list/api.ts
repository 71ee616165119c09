import type { Mutant } from '../mutant.ts'
import { contract, type Oracle, properties } from '../oracles.ts'

const conversion = (only: string): Oracle => properties('src/api/conversion.test.ts', only)
const edits = properties('src/api/edits.test.ts')
const crd = contract('src/api/crd.test.ts')
const conditions = contract('src/api/conditions.test.ts')

export const apiMutants: readonly Mutant[] = [
  {
    id: 'api/conversion-loses-status',
    file: 'src/api/alpha-view.ts',
    what: 'A v1alpha1 client does not see when a job ended, and writes that back.',
    from: "['startTime', 'completionTime',",
    to: "['startTime',",
    caughtBy: conversion('v1alpha1 → v1 → v1alpha1 gives the same object'),
  },
  {
    id: 'api/conversion-loses-hidden-fields',
    file: 'src/api/conversion.ts',
    what: 'Fields that only v1 has are lost on the way through v1alpha1.',
    from: 'annotations[HIDDEN_FIELDS] = formatEdits(hidden)',
    to: 'annotations[HIDDEN_FIELDS] = formatEdits([])',
    caughtBy: conversion('v1 → v1alpha1 → v1 gives the same object'),
  },
  {
    id: 'api/conversion-trusts-annotation',
    file: 'src/api/conversion.ts',
    what: 'An annotation of another client changes what the client sees.',
    from: 'sameJson(toAlphaBody(body), seen) &&',
    to: '',
    caughtBy: conversion('v1 → v1alpha1 → v1 gives the same object'),
  },
  {
    id: 'api/conversion-unchecked',
    file: 'src/api/conversion.ts',
    what: 'An annotation of another client results in a job that its schema does not allow.',
    from: '(fits(trainingJobV1.spec, body.spec) && hasRoom(body.spec))',
    to: 'hasRoom(body.spec)',
    caughtBy: conversion('an annotation by someone else'),
  },
  {
    id: 'api/conversion-not-elastic',
    file: 'src/api/conversion.ts',
    what: 'A job that v1alpha1 scaled beyond its hidden bounds does not fit its own bounds.',
    from: "edits.filter(([at]) => at !== '/spec/elastic')",
    to: 'edits',
    caughtBy: conversion('scaling in v1alpha1'),
  },
  {
    id: 'api/conversion-phase',
    file: 'src/api/alpha-view.ts',
    what: 'A restarting job reads Pending in v1alpha1.',
    from: "Restarting: 'Running'",
    to: "Restarting: 'Pending'",
    caughtBy: conversion('every phase'),
  },
  {
    id: 'api/edits-removal',
    file: 'src/api/edits.ts',
    what: 'The difference of two objects does not name what was removed.',
    from: 'if (after === undefined) return note(null)',
    to: 'if (after === undefined) return',
    caughtBy: edits,
  },
  {
    id: 'api/edits-escape',
    file: 'src/api/edits.ts',
    what: 'A key with a slash is taken for two steps of a path.',
    from: ".replaceAll('/', '~1')",
    to: '',
    caughtBy: edits,
  },
  {
    id: 'api/edits-unescape-order',
    file: 'src/api/edits.ts',
    what: 'A key that contains ~1 is read as one with a slash.',
    from: "key.replaceAll('~1', '/').replaceAll('~0', '~')",
    to: "key.replaceAll('~0', '~').replaceAll('~1', '/')",
    caughtBy: edits,
  },
  {
    id: 'api/defaults-shared',
    file: 'src/api/defaults.ts',
    what: 'Defaults inside of defaults are not filled in.',
    from: 'filled[name] = fill(property, present)',
    to: 'filled[name] = present',
    caughtBy: properties('src/api/defaults.test.ts'),
  },
  {
    id: 'api/defaults-overrule',
    file: 'src/api/defaults.ts',
    what: 'A default overrules what the user has set.',
    from: 'filled[name] ?? structuredClone(property.default)',
    to: 'structuredClone(property.default) ?? filled[name]',
    caughtBy: properties('src/api/defaults.test.ts'),
  },
  {
    id: 'api/crd-without-status',
    file: 'src/api/crd.ts',
    what: 'A kind has no status subresource, so every user who may edit the spec may write the status.',
    from: 'subresources: { status: {}, ',
    to: 'subresources: { ',
    caughtBy: crd,
  },
  {
    id: 'api/conditions-is-true',
    file: 'src/api/conditions.ts',
    what: 'A condition counts as true whatever its status is.',
    from: "getCondition(conditions, type)?.status === 'True'",
    to: 'getCondition(conditions, type) !== undefined',
    caughtBy: conditions,
  },
  {
    id: 'api/limited-lists',
    file: 'src/api/limited.ts',
    what: 'A field without effect inside a list is not named.',
    from: 'Array.isArray(entries) && entries.some(',
    to: 'Array.isArray(entries) && entries.every(',
    caughtBy: contract('src/api/limited.test.ts'),
  },
]
