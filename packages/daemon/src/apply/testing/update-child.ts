// A daemon that is killed: a separate process, on a simulated machine in a directory.
//
// update-child.ts ROOT SAMPLE
//
// Each line of its input is a command: `recover`, `update`, or `update CALL`, which kills the process at that change.
// It prints `begun` before the first call, and its result at the end, each on a line.
import { createInterface } from 'node:readline';
import { createDisk } from '../../host/disk.ts';
import type { FileSystem } from '../../host/file-system.ts';
import { aroundCalls, isChange } from '../../host/testing/calls.ts';
import { recoverToEnd, updateToEnd } from './sample-machine.ts';
import { sampleNames, sampleUpdate } from './sample-update.ts';

const [root = '', name = ''] = process.argv.slice(2);
const sample = sampleNames.find((each) => each === name);
if (sample === undefined || root === '') throw new Error(`expected ROOT and one of ${sampleNames.join(', ')}`);
const update = await sampleUpdate(sample);
const disk = createDisk({ root });
/** Changes of the current update so far. */
let changes = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, call] = line.split(' ');
  process.stdout.write('begun\n');
  const start = performance.now();
  changes = 0;
  const killAt = call === undefined ? null : Number(call);
  const result = await (verb === 'recover' ? recoverToEnd(disk, update) : updateToEnd(counted(disk, killAt), update));
  process.stdout.write(`${JSON.stringify({ result, changes, milliseconds: performance.now() - start })}\n`);
}

function counted(real: FileSystem, killAt: number | null): FileSystem {
  return aroundCalls(real, async (each, run) => {
    if (isChange(each) && changes++ === killAt) {
      process.kill(process.pid, 'SIGKILL');
      // The signal is pending: nothing more may happen.
      return new Promise(() => {});
    }
    return run();
  });
}
