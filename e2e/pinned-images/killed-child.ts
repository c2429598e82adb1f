// What the daemon does about images, in a process of its own: `killed-child.ts ROOT KUBECONFIG NODE PID_OF_CRIO`. It says every
// step that changes something, and when it is told `die N` or `die STEP` it is killed at the N-th one from then on, or at that one. The kill is the kernel's:
// nothing of the process runs any more.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createDisk, createRealHost, type FileSystem } from '@slipway/daemon';
import { createClient, createTransport, loadKubeconfig, silentLog, type Transport } from '@slipway/kube';
import { startPinningDaemon } from './pinning-daemon.ts';

const [root = '', kubeconfig = '', nodeName = '', crio = ''] = process.argv.slice(2);
let left = Infinity;
let last = '';

/** What a step changes is there when the next one begins: so to die after each of them, and before the first, is enough. */
function step(text: string): void {
  writeSync(1, `${text}\n`);
  left -= 1;
  if (left === 0 || text === last) process.kill(process.pid, 'SIGKILL');
}

const announceFileChanges = (files: FileSystem): FileSystem => ({
  ...files,
  async createFile(path, file) {
    await files.createFile(path, file);
    step(`create ${path}`);
  },
  async rename(from, to) {
    await files.rename(from, to);
    step(`put ${to}`);
  },
  async remove(path) {
    await files.remove(path);
    step(`remove ${path}`);
  },
});

const announcePatches = (transport: Transport): Transport => ({
  ...transport,
  async json(request) {
    const answer = await transport.json(request);
    if (request.method === 'PATCH') step('tell');
    return answer;
  },
});

async function reload(): Promise<void> {
  process.kill(Number(crio), 'SIGHUP');
  step('reload');
}
const host = await createRealHost({ root, files: announceFileChanges(createDisk({ root })), containers: { reload } });
const { containers } = host;
const pulling: typeof containers = {
  ...containers,
  async pull(image, credential, signal) {
    step('begin to pull');
    await containers.pull(image, credential, signal);
    step('pull');
  },
};
createInterface(process.stdin).on('line', (line) => {
  const wish = line.replace('die ', '');
  [left, last] = [Number(wish) || Infinity, wish];
  step('armed');
});
await startPinningDaemon({
  host: { ...host, containers: pulling },
  root,
  nodeName,
  client: createClient(announcePatches(createTransport(await loadKubeconfig([kubeconfig])))),
  log: silentLog(),
});
