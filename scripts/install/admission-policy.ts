/**
 * The admission policy for fields by which users choose what their pods may do. Whoever sets such a field creates pods by way
 * of the operator, so they need the permission to create pods in the namespace. Updates that leave these fields unchanged
 * need nothing more: scaling, suspending, and the writes of the operator itself.
 */

import type { Kind } from '../../src/api/kind.ts'
import {
  mlopsModelDeploymentKind,
  modelDeploymentKind,
  trainingJobKind,
  trainingScheduleKind,
} from '../../src/api/kinds.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { NAME } from './roles.ts'

const API = 'admissionregistration.k8s.io/v1'
const labels = { 'app.kubernetes.io/name': NAME, 'app.kubernetes.io/part-of': NAME }

export const POLICY = `${NAME}-pod-permission`

const guardedKinds: readonly Kind[] = [
  trainingJobKind,
  trainingScheduleKind,
  modelDeploymentKind,
  mlopsModelDeploymentKind,
]

/** One of the guarded fields: whether it is set, and whether it is as before the update. */
interface GuardedField {
  /** Below the spec of the object, or of its job template. */
  readonly path: string
  /** CEL over `variables.spec` and `variables.before`: true unless the field is set to something new. */
  readonly isUnchanged: string
}

const unchanged = (field: string): string =>
  `!has(variables.spec.${field}) || (has(variables.before.${field}) && variables.before.${field} == variables.spec.${field})`

const unchangedIn = (list: string): string =>
  `!has(variables.spec.${list}) || variables.spec.${list}.all(one, !has(one.podTemplate) || ` +
  `(has(variables.before.${list}) && variables.before.${list}.exists(old, ` +
  'old.name == one.name && has(old.podTemplate) && old.podTemplate == one.podTemplate)))'

const guardedFields: readonly GuardedField[] = [
  { path: 'serviceAccountName', isUnchanged: unchanged('serviceAccountName') },
  { path: 'podTemplate', isUnchanged: unchanged('podTemplate') },
  { path: 'roles[].podTemplate', isUnchanged: unchangedIn('roles') },
  { path: 'versions[].podTemplate', isUnchanged: unchangedIn('versions') },
]

const NEEDS =
  'needs the permission to create pods in this namespace: ask an administrator for the verb create on pods, or remove the field'

/** A TrainingSchedule has the spec of a job in its template. `dyn`, because not every kind has every field. */
const specOf = (object: string): string =>
  `has(dyn(${object}.spec).jobTemplate) ? dyn(${object}.spec).jobTemplate.spec : dyn(${object}.spec)`

/** Matches by v1. Requests in v1alpha1 are converted before they are compared. */
const resourceRules = guardedKinds.map(({ group, plural }) => ({
  apiGroups: [group],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: [plural],
  scope: 'Namespaced',
}))

export function admissionPolicy(): readonly KubeObject[] {
  const policy = {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: POLICY, labels },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', resourceRules },
      variables: [
        { name: 'spec', expression: specOf('object') },
        { name: 'before', expression: `oldObject == null ? dyn({}) : (${specOf('oldObject')})` },
        { name: 'at', expression: "has(dyn(object.spec).jobTemplate) ? 'spec.jobTemplate.spec' : 'spec'" },
        {
          name: 'mayCreatePods',
          expression: "authorizer.group('').resource('pods').namespace(request.namespace).check('create').allowed()",
        },
      ],
      validations: guardedFields.map(({ path, isUnchanged }) => ({
        expression: `(${isUnchanged}) || variables.mayCreatePods`,
        message: `${path} ${NEEDS}`,
        messageExpression: `variables.at + '.${path} ${NEEDS}'`,
        reason: 'Forbidden',
      })),
    },
  }
  const binding = {
    apiVersion: API,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: POLICY, labels },
    spec: { policyName: POLICY, validationActions: ['Deny'] },
  }
  return [policy, binding]
}
