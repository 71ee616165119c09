/**
 * Preloaded with `--import`: loads one source file with a planted bug. The edit is in the environment variable `MUTANT` as JSON, so
 * worker threads and child processes of the oracle run have it too. The tree is not changed.
 */
import { type LoadFnOutput, registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Edit, mutated } from './mutant.ts'

const edit = JSON.parse(process.env['MUTANT'] ?? 'null') as Edit | null

if (edit) {
  const target = pathToFileURL(resolve(import.meta.dirname, '../..', edit.file)).href
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      if (url !== target) return loaded
      return { ...loaded, source: mutated(textOf(loaded.source), edit) }
    },
  })
}

function textOf(source: LoadFnOutput['source']): string {
  return typeof source === 'string' ? source : new TextDecoder().decode(source)
}
