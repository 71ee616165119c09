/**
 * Runs a validation script in the image of a version, which has Python and nothing of ours.
 *
 * Looks for the script beside the model first: in the directory of `MODEL_PATH`, or in that of the model and its first
 * version inside a repository; then in the working directory of the image. The script replaces the process, so its exit
 * code, output and signals are its own. A missing script exits with 127, as a missing command does in a shell.
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
