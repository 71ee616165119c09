/**
 * `ml-operator images`: prints the images that the operator may start, by the configuration that the operator reads. For
 * clusters without access to public registries.
 */
import { type Flags, helpOf, parseFlags } from './command/flags.ts'
import { configFlags, loadOperatorConfig, type OperatorConfig } from './operator-config.ts'
import { servingImages } from './plan/serving/index.ts'
import { trainingImages } from './plan/training/index.ts'

const imagesFlags = {
  ...configFlags,
  describe: { help: 'print what each image is for, after a tab' },
} as const satisfies Flags

/** One line per flag. */
export const imagesHelp = helpOf(imagesFlags)

/** Returns the output: one image per line, sorted, each once. */
export async function images(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { config, describe, 'agent-image': agentImage } = parseFlags(imagesFlags, args, env)
  const purposes = imagesOf(await loadOperatorConfig(config, agentImage === undefined ? {} : { agentImage }))
  const lines = [...purposes].map(([image, uses]) => (describe ? `${image}\t${uses.join('; ')}` : image))
  return lines.map((line) => `${line}\n`).join('')
}

/** Image → purposes. */
function imagesOf({ training, serving }: OperatorConfig): Map<string, string[]> {
  const purposes = new Map<string, string[]>()
  for (const { image, purpose } of [...servingImages(serving), ...trainingImages(training)])
    purposes.set(image, [...(purposes.get(image) ?? []), purpose])
  return new Map([...purposes].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
