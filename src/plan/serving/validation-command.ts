/**
 * What runs a validation script in the image of a version, which has Python and nothing of ours.
 *
 * The script is looked for beside the model first, since what belongs to a model travels with it: in the directory of
 * `MODEL_PATH`, or in that of the model and its first version inside of a repository; then in the working directory of the
 * image. It becomes the process itself, so that its exit code, its output and the signals it gets are its own. A script
 * that is nowhere ends with 127, as a shell ends for a command that is nowhere.
 */

const RUN_SCRIPT = [
  'import os, sys',
  'script = sys.argv[1]',
  "model, name = os.environ['MODEL_PATH'], os.environ['MODEL_NAME']",
  'home = model if os.path.isdir(model) else os.path.dirname(model)',
  "places = [home, os.path.join(home, name), os.path.join(home, name, '1'), os.getcwd()]",
  'found = [path for path in (os.path.join(place, script) for place in places) if os.path.isfile(path)]',
  'if not found:',
  '    print(f\'validation script {script} is in none of {", ".join(places)}: put it beside the model or into the image\', file=sys.stderr)',
  '    sys.exit(127)',
  'sys.stdout.flush()',
  "os.execv(sys.executable, [sys.executable, '-u', found[0]])",
].join('\n')

export function validationCommand(script: string): string[] {
  return ['python3', '-c', RUN_SCRIPT, script]
}
