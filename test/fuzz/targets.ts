import { apiResponses } from './api-responses.ts'
import { parsers } from './parsers.ts'
import { portTargets } from './ports.ts'
import { sources } from './sources.ts'
import type { Target } from './target.ts'

export const targets: readonly Target[] = [...parsers, ...apiResponses, ...sources, ...portTargets]
