/** The contract that every framework keeps. A toy framework, registered only here, passes the same suite. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TrainingCluster } from '../../../../test/sim/training-cluster.ts'
import { roleNames } from '../../../api/training-roles.ts'
import type { ConfigMap, Pod } from '../../../kube/resources.ts'
import { variable } from '../../pod/variable.ts'
import { podName, WORKER } from '../names.ts'
import { configMaps } from '../objects/config-map.ts'
import { environment } from '../objects/environment.ts'
import { generatedSecrets, secretsToGenerate } from '../objects/generated-secrets.ts'
import type { Framework } from './contract.ts'
import { custom } from './custom.ts'
import { canReplaceAlone, isElastic } from './elasticity.ts'
import type { PodIdentity } from './pod-identity.ts'
import { frameworks } from './registry.ts'
import { decidingRole, gpusOf, replicasOf, rolesOf, startsAfterWorkers } from './roles.ts'

/** A framework with a coordinator that starts last, a file, a Secret and replaceable workers. */
const toy: Framework = {
  ...custom,
  environment: ({ index, attempt }) => [...variable('TOY_ID', index), ...variable('TOY_SIZE', attempt.worldSize)],
  roles: { launcher: { isImplied: true, decidesSuccess: true, startsAfterWorkers: true } },
  files: [{ key: 'toys', mountPath: '/etc/toy/toys', content: (_job, { worldSize }) => `${worldSize}\n` }],
  secrets: [
    {
      generator: 'sshKeyPair',
      name: ({ metadata }) => `${metadata.name}-toy-${metadata.uid}`,
      type: 'Opaque',
      volumeName: 'toy',
      mountPath: '/etc/toy-keys',
    },
  ],
  elasticity: { isEnabled: ({ elastic }) => elastic !== undefined, isEssential: ({ role }) => role !== WORKER },
}
Object.assign(frameworks, { toy })

const SIZE = 3
const ATTEMPT = { number: 2, worldSize: SIZE }

for (const [name, framework] of Object.entries(frameworks)) {
  const allowed = Object.keys(framework.roles ?? {}) as (typeof roleNames)[number][]
  const listed = { framework: name, numWorkers: SIZE, gpusPerWorker: 2, roles: allowed.map((role) => ({ name: role })) }
  const specs: Readonly<Record<string, object>> = {
    plain: { framework: name, numWorkers: SIZE },
    'all roles listed': listed,
    elastic: { ...listed, command: ['torchrun', 'x'], elastic: { minWorkers: 1, maxWorkers: 8 } },
  }

  describe(`framework ${name}`, () => {
    test('the work for a gang grows with its size, not with the square of it', () => {
      const { job } = new TrainingCluster({ framework: name, numWorkers: SIZE })
      const attempt = { number: 1, worldSize: 500 }
      let calls = 0
      const hostname: PodIdentity['hostname'] = (...pod) => {
        calls += 1
        return podName(...pod)
      }
      for (let index = 0; index < attempt.worldSize; index += 1)
        framework.environment({ job, attempt, role: WORKER, index: String(index), rank: { name: 'RANK' }, hostname })
      assert.ok(calls <= 4 * attempt.worldSize, `${calls} host names for ${attempt.worldSize} pods`)
    })

    for (const [kind, spec] of Object.entries(specs)) {
      const { job, observed } = new TrainingCluster(spec)
      const replicas = replicasOf(job, ATTEMPT)
      const roles = [...new Set(replicas.map(({ role }) => role))]
      const identity = (role: string, index: number | string): PodIdentity => {
        const [rank = { name: 'RANK' }] = variable('RANK', index)
        return { job, attempt: ATTEMPT, role, index: String(index), rank, hostname: podName }
      }
      const own = (role: string, index: number | string) => framework.environment(identity(role, index))

      test(`${kind}: sets each variable once, by a valid name, and none that every pod has`, () => {
        for (const { role, index } of replicas) {
          const names = own(role, index).map((entry) => entry.name)
          assert.deepEqual(names, [...new Set(names)])
          for (const one of names) assert.match(one, /^[A-Za-z_][A-Za-z0-9_]*$/)
          const plain = { ...job, spec: { ...job.spec, framework: 'custom' as const } }
          const common = environment({ ...identity(role, index), job: plain }).map((entry) => entry.name)
          assert.deepEqual(
            names.filter((one) => common.includes(one)),
            [],
          )
        }
      })

      test(`${kind}: pods of a role differ by their index only`, () => {
        for (const { role, index } of replicas) {
          const template = JSON.stringify(own(role, '$(RANK)'))
          assert.deepEqual(own(role, index), JSON.parse(template.replaceAll('$(RANK)', String(index))))
          assert.deepEqual(own(role, index), own(role, index))
        }
      })

      test(`${kind}: the size is that of the attempt, whatever the spec says by now`, () => {
        const resized = { ...job, spec: { ...job.spec, numWorkers: 7 } }
        for (const { role, index } of replicas)
          assert.deepEqual(framework.environment({ ...identity(role, index), job: resized }), own(role, index))
        assert.deepEqual(configMaps(resized, ATTEMPT), configMaps(job, ATTEMPT))
      })

      test(`${kind}: its roles are roles of the API, and one of its roles decides`, () => {
        const traits = Object.values(framework.roles ?? {})
        assert.ok(allowed.every((role) => roleNames.includes(role)))
        assert.ok(traits.filter(({ decidesSuccess }) => decidesSuccess).length <= 1)
        assert.ok(roles.includes(decidingRole(job.spec)))
        assert.ok(!startsAfterWorkers(job.spec, WORKER))
        assert.equal(gpusOf(job.spec, WORKER), job.spec.gpusPerWorker)
        const names = rolesOf(job.spec).map((role) => role.name)
        assert.deepEqual(names, [...new Set(names)])
        assert.deepEqual(new Set(replicas.map(({ role, index }) => `${role}/${index}`)).size, replicas.length)
      })

      test(`${kind}: what its pods mount and refer to exists`, () => {
        const cluster = settled(spec)
        const [{ data = {}, metadata } = {} as Partial<ConfigMap>] = configMaps(job, ATTEMPT)
        const secrets = generatedSecrets(job, observed.secretData).map((secret) => secret.metadata.name)
        assert.deepEqual([...cluster.secrets], secrets)
        for (const pod of cluster.pods) assertMountsExist(pod, { data, configMap: metadata?.name, secrets })
      })

      test(`${kind}: a pod is replaced alone only in an elastic job, and not all pods are essential there`, () => {
        const replaceable = replicas.filter((replica) => canReplaceAlone(job.spec, replica))
        assert.equal(replaceable.length > 0, isElastic(job.spec))
        if (job.spec.elastic === undefined) assert.equal(isElastic(job.spec), false)
      })

      test(`${kind}: the job runs, and completes when the role that decides has succeeded`, () => {
        const cluster = settled(spec)
        assert.equal(cluster.job.status?.state, 'Running')
        assert.equal(cluster.pods.length, replicas.length)
        const deciding = podName(job, decidingRole(job.spec), '')
        for (const pod of cluster.pods) if (pod.metadata.name.startsWith(deciding)) cluster.exit(pod, { exitCode: 0 })
        cluster.settle()
        assert.equal(cluster.job.status?.state, 'Completed')
        assert.deepEqual(secretsToGenerate(cluster.job), [])
      })
    }
  })
}

/** A job whose pods all run, those that wait for the workers included. */
function settled(spec: object): TrainingCluster {
  const cluster = new TrainingCluster(spec)
  for (let round = 0; round < 3; round += 1) {
    cluster.settle()
    cluster.runAll()
  }
  cluster.settle()
  return cluster
}

interface Existing {
  readonly data: Readonly<Record<string, string>>
  readonly configMap: string | undefined
  readonly secrets: readonly string[]
}

function assertMountsExist({ spec }: Pod, { data, configMap, secrets }: Existing): void {
  assert.ok(spec)
  const { containers, volumes = [] } = spec
  const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts)
  const volumeOf = (name: string) => volumes.find((volume) => volume.name === name)
  for (const { name, subPath = '' } of mounts) {
    assert.ok(volumeOf(name), name)
    if (volumeOf(name)?.configMap) assert.ok(subPath in data, subPath)
  }
  const objects = volumes.flatMap((volume) => volume.configMap?.name ?? volume.secret?.secretName ?? [])
  assert.ok(objects.every((name) => name === configMap || secrets.includes(name)))
  const paths = mounts.map(({ mountPath }) => mountPath)
  assertPathsMounted(JSON.stringify(containers), paths)
}

function assertPathsMounted(text: string, mounted: readonly string[]): void {
  assert.deepEqual(mounted, [...new Set(mounted)])
  for (const [path] of text.matchAll(/\/etc\/[\w./-]+/g))
    assert.ok(
      mounted.some((place) => path === place || path.startsWith(`${place}/`)),
      path,
    )
}

test('every role of the API belongs to a framework', () => {
  const { toy: _toy, ...real } = frameworks as Readonly<Record<string, Framework>>
  const owned = Object.values(real).flatMap(({ roles = {} }) => Object.keys(roles))
  assert.deepEqual(owned.toSorted(), [...roleNames].toSorted())
})
