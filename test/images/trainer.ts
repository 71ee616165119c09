/**
 * Images with the names that the manifests use. Their `python` and `torchrun` train nothing: the ranks connect to the master
 * by its DNS name and end together.
 */
import { buildImage, type ImageFile } from '../../testenv/image.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'

export const TRAINER = 'pytorch/pytorch:1.12.0-cuda11.3'
const NAMES = [TRAINER, 'training-image:resnet18', 'training-image:resnet50']

/**
 * Rank 0 serves; the other ranks poll it until it lets them end: at once, or with the argument `wait` when the file /tmp/go
 * exists. Rank 0 ends after the others have acknowledged, because a response in flight at its end could be lost.
 */
const PYTHON = `#!/bin/sh
trap 'exit 143' TERM
echo "rank $RANK of $WORLD_SIZE, master $MASTER_ADDR:$MASTER_PORT"
all() { r=1; while [ $r -lt "$WORLD_SIZE" ]; do [ -f "/tmp/$1-$r" ] || return 1; r=$((r + 1)); done; }
if [ "$RANK" != 0 ]; then
  ask() { wget -q -O- "http://$MASTER_ADDR:$MASTER_PORT/cgi-bin/join?$1" 2>/dev/null; }
  until [ "$(ask "$RANK")" = go ]; do sleep 0.2; done
  echo "rank $RANK was told to end"
  n=0
  until ask "bye-$RANK" || [ $n = 10 ]; do n=$((n + 1)); sleep 0.2; done
  exit 0
fi
mkdir -p /tmp/www/cgi-bin
cp /opt/join /tmp/www/cgi-bin/join
httpd -p "$MASTER_PORT" -h /tmp/www
until all joined; do sleep 0.2; done
echo "all $WORLD_SIZE ranks are here"
case " $* " in *" wait "*) ;; *) touch /tmp/go ;; esac
until [ -f /tmp/go ] && all told; do sleep 0.2; done
`

const JOIN = `#!/bin/sh
printf 'Content-type: text/plain\\r\\n\\r\\n'
case "$QUERY_STRING" in bye-*) touch "/tmp/told-\${QUERY_STRING#bye-}"; exit 0 ;; esac
touch "/tmp/joined-$QUERY_STRING"
[ -f /tmp/go ] || exit 0
printf go
`

const APPLETS = ['httpd', 'wget']

export async function loadTrainers(): Promise<void> {
  const cluster = await nodeCluster()
  const links = APPLETS.map((name): [string, ImageFile] => [`/bin/${name}`, { linkTo: '/bin/busybox' }])
  for (const name of NAMES) {
    const image = await buildImage({
      name,
      packages: ['busybox-static'],
      files: {
        '/usr/local/bin/python': { text: PYTHON, mode: 0o755 },
        '/usr/local/bin/torchrun': { text: PYTHON, mode: 0o755 },
        '/opt/join': { text: JOIN, mode: 0o755 },
        ...Object.fromEntries(links),
      },
    })
    await cluster.load(image)
  }
}
