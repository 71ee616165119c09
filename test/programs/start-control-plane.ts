/** Starts a control plane, prints its run directory, and runs until it is killed. */

import { startControlPlane } from '../../testenv/control-plane.ts'

const { runDirectory } = await startControlPlane()
process.stdout.write(`ready ${runDirectory}\n`)
setInterval(() => {}, 60_000)
