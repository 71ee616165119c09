import { defineConfig, type OxlintOverride } from 'oxlint'

/** The folders of src, and the folders that each may import. To share a type, move it down; do not relax a rule. */
const folders: Record<string, readonly string[]> = {
  kube: [],
  command: [],
  net: [],
  decision: ['kube'],
  runtime: ['kube', 'net', 'decision'],
  api: ['kube'],
  plan: ['api', 'kube', 'decision'],
  integrations: ['kube', 'api'],
  reconcile: ['runtime', 'kube', 'api', 'decision', 'plan', 'integrations'],
  agent: ['kube', 'api', 'command', 'net'],
  webhooks: ['runtime', 'kube', 'api', 'net'],
  reports: ['runtime', 'kube', 'api', 'net'],
  cli: ['kube', 'api', 'plan', 'reconcile'],
  dashboard: ['runtime', 'kube', 'api'],
}

/** Folders of which the others import index.ts only. Tests may import any file. */
const closedFolders = ['plan/training', 'plan/schedule', 'plan/serving', 'plan/traffic']

const closedFolderPatterns = closedFolders.map((folder) => {
  const [, name = ''] = folder.split('/')
  return {
    group: [`**/${name}/**`, `!**/${name}/index.ts`],
    message: `import src/${folder}/index.ts: the other files of that folder are its own`,
  }
})

const PURE = {
  regex: '^[^.]',
  message: 'src/plan is pure: no node or npm imports. Pass the value in through `observed`.',
}

const folderRules: OxlintOverride[] = [
  ...Object.keys(folders).map((folder) => folderRule(folder, `src/${folder}/**/*.ts`, { isPure: folder === 'plan' })),
  // The entry files and the scripts are in none of these folders.
  { files: ['src/*.ts', 'scripts/**/*.ts'], rules: { 'no-restricted-imports': restricted(closedFolderPatterns) } },
  { files: ['src/*.test.ts', 'scripts/**/*.test.ts'], rules: { 'no-restricted-imports': 'off' } },
  // Tests may use node and npm modules, and test code in test.
  ...Object.keys(folders).map((folder) => folderRule(folder, `src/${folder}/**/*.test.ts`, { isTest: true })),
]

type Pattern = { message: string } & ({ regex: string } | { group: string[] })

function restricted(patterns: Pattern[]): ['error', { patterns: Pattern[] }] {
  return ['error', { patterns }]
}

interface FolderOptions {
  readonly isPure?: boolean
  readonly isTest?: boolean
}

function folderRule(folder: string, files: string, { isPure = false, isTest = false }: FolderOptions): OxlintOverride {
  const allowed = folders[folder] ?? []
  const others = Object.keys(folders).filter((other) => other !== folder && !allowed.includes(other))
  const forbidden = [...others, 'main\\.ts', 'operator\\.ts', ...(isTest ? [] : ['testenv', 'test'])]
  return {
    files: [files],
    rules: {
      'no-restricted-imports': restricted([
        {
          regex: `^(\\.\\./)+(${forbidden.join('|')})(/|$)`,
          message: `src/${folder} may import only: ${allowed.join(', ') || 'nothing of ours'}. Move shared code to a folder that both may import.`,
        },
        ...(isTest ? [] : closedFolderPatterns),
        ...(isPure ? [PURE] : []),
      ]),
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
    'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
    'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
    // What comes off the wire is JSON; its type is asserted once, where it enters.
    'typescript/no-unsafe-type-assertion': 'off',
    'max-params': ['error', { max: 4 }],
    'max-depth': ['error', { max: 3 }],
    complexity: ['error', { max: 12 }],
  },
  overrides: [
    ...folderRules,
    {
      files: ['**/*.test.ts', 'test/**/*.ts'],
      rules: { 'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }] },
    },
    // A suite is one function around its tests.
    { files: ['**/*.test.ts', 'test/contracts/**/*.ts'], rules: { 'max-lines-per-function': 'off' } },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
})
