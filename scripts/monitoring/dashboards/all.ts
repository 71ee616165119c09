import type { Dashboard } from '../dashboard.ts'
import { operatorDashboard } from './operator.ts'
import { servingDashboard } from './serving.ts'
import { trainingDashboard } from './training.ts'

export const dashboards: readonly Dashboard[] = [trainingDashboard, servingDashboard, operatorDashboard]
