import type { Alert } from '../alert.ts'
import { operatorAlerts } from './operator.ts'
import { servingAlerts } from './serving.ts'
import { trainingAlerts } from './training.ts'

/** By the group of the rules. */
export const alertGroups: Readonly<Record<string, readonly Alert[]>> = {
  'ml-operator': operatorAlerts,
  'ml-operator-training': trainingAlerts,
  'ml-operator-serving': servingAlerts,
}

export const alerts: readonly Alert[] = Object.values(alertGroups).flat()
