/** A pod template with every field that our schemas declare and allow, and some that they only preserve. */

const ADDRESS = { name: 'ADDRESS', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } }

/** `own`: name of the container of the operator. */
export const userPodTemplate = (own: string) => ({
  metadata: { labels: { team: 'vision' }, annotations: { note: 'from the template' } },
  spec: {
    terminationGracePeriodSeconds: 20,
    containers: [
      {
        name: 'log-shipper',
        image: 'example.com/shipper:1',
        command: ['ship'],
        args: ['--all'],
        env: [{ name: 'LEVEL', value: 'debug' }, ADDRESS],
        envFrom: [{ secretRef: { name: 'shipper', optional: true } }],
        volumeMounts: [{ name: 'logs', mountPath: '/logs', subPath: 'all', readOnly: true }],
        resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' }, claims: [{ name: 'device' }] },
        terminationMessagePath: '/dev/message',
        imagePullPolicy: 'Always',
      },
      { name: own, volumeMounts: [{ name: 'logs', mountPath: '/logs' }], securityContext: { runAsUser: 7 } },
    ],
    initContainers: [
      {
        name: 'prepare',
        image: 'example.com/prepare:1',
        command: ['prepare'],
        args: ['--now'],
        env: [{ name: 'LEVEL', value: 'debug' }, ADDRESS],
        envFrom: [{ secretRef: { name: 'prepare', optional: true } }],
        volumeMounts: [{ name: 'logs', mountPath: '/logs', subPath: 'all' }],
        resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' }, claims: [{ name: 'device' }] },
        restartPolicy: 'Always',
      },
    ],
    volumes: [{ name: 'logs', emptyDir: {} }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    resourceClaims: [{ name: 'device', resourceClaimTemplateName: 'one-device' }],
  },
})
