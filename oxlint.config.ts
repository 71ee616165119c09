import { defineConfig, type OxlintOverride } from 'oxlint'

/**
 * The rooms of the house and the rooms each may look into. Imports go down this list only;
 * a shared type moves down, a rule is never relaxed.
 */
const rooms: Record<string, readonly string[]> = {
  kube: [],
  command: [],
  runtime: ['kube'],
  api: ['kube'],
  plan: ['api', 'kube'],
  integrations: ['kube', 'api'],
  reconcile: ['runtime', 'kube', 'api', 'plan', 'integrations'],
  agent: ['kube', 'api', 'command'],
  webhooks: ['runtime', 'kube', 'api'],
  cli: ['kube', 'api', 'plan', 'reconcile'],
  dashboard: ['runtime', 'kube', 'api'],
}

const roomRules = [
  ...Object.keys(rooms).map((room) => roomRule(room, `src/${room}/**/*.ts`, { isPure: room === 'plan' })),
  // What is pure is tested with tools that are not, and what only tests need stands in test.
  ...Object.keys(rooms).map((room) => roomRule(room, `src/${room}/**/*.test.ts`, { isTest: true })),
]

interface RoomOptions {
  readonly isPure?: boolean
  readonly isTest?: boolean
}

function roomRule(room: string, files: string, { isPure = false, isTest = false }: RoomOptions): OxlintOverride {
  const allowed = rooms[room] ?? []
  const others = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other))
  const forbidden = [...others, 'main\\.ts', 'operator\\.ts', ...(isTest ? [] : ['testenv', 'test'])]
  return {
    files: [files],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: `^(\\.\\./)+(${forbidden.join('|')})(/|$)`,
              message: `src/${room} may import only: ${allowed.join(', ') || 'nothing of ours'}. Move the shared piece down instead.`,
            },
            ...(isPure
              ? [
                  {
                    regex: '^[^.]',
                    message: 'src/plan is pure: no node or npm imports. Pass the value in through `observed`.',
                  },
                ]
              : []),
          ],
        },
      ],
    },
  }
}

export default defineConfig({
  ignorePatterns: ['node_modules', 'coverage'],
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'node'],
  options: { typeAware: true },
  categories: { correctness: 'error', suspicious: 'error' },
  rules: {
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'typescript/no-floating-promises': [
      'error',
      {
        allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'describe', 'suite', 'it'] }],
      },
    ],
    // A helper that only one function needs may stand inside it.
    'unicorn/consistent-function-scoping': 'off',
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-misused-promises': 'error',
    'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
    'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
    // What comes off the wire is JSON; its type is asserted once, where it enters.
    'typescript/no-unsafe-type-assertion': 'off',
    'max-params': ['error', { max: 4 }],
    'max-depth': ['error', { max: 3 }],
    complexity: ['error', { max: 12 }],
  },
  overrides: [
    ...roomRules,
    {
      files: ['**/*.test.ts'],
      rules: { 'max-lines-per-function': 'off', 'max-lines': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
})
