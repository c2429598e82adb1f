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

for await (const line of createInterface({ input: process.stdin })) {
  const [verb, call] = line.split(' ');
  process.stdout.write('begun\n');
  const start = performance.now();
  const result = await (verb === 'recover'
    ? recoverToEnd(disk, update)
    : updateToEnd(call === undefined ? disk : killedAt(disk, Number(call)), update));
  process.stdout.write(`${JSON.stringify({ result, milliseconds: performance.now() - start })}\n`);
}

function killedAt(real: FileSystem, at: number): FileSystem {
  let calls = 0;
  return aroundCalls(real, async (each, run) => {
    if (isChange(each) && calls++ === at) {
      process.kill(process.pid, 'SIGKILL');
      // The signal is pending: nothing more may happen.
      return new Promise(() => {});
    }
    return run();
  });
}
