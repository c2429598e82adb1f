// A daemon that is killed: a process of its own, on a simulated machine that is a directory.
//   update-child.ts ROOT SAMPLE recover|update [CALL]
// It says `ready` before the first call and its result at the end, each on a line. With CALL it kills itself there.
import { createDisk } from '../../host/disk.ts';
import type { FileSystem } from '../../host/file-system.ts';
import { aroundCalls, isChange } from '../../host/testing/calls.ts';
import { recoverToEnd, updateToEnd } from './sample-machine.ts';
import { sampleNames, sampleUpdate } from './sample-update.ts';

const [root = '', name = '', verb = '', call] = process.argv.slice(2);
const sample = sampleNames.find((each) => each === name);
if (sample === undefined || root === '') throw new Error(`expected ROOT and one of ${sampleNames.join(', ')}`);
const update = await sampleUpdate(sample);
const disk = createDisk({ root });
const files = call === undefined ? disk : killedAt(disk, Number(call));

process.stdout.write('ready\n');
const start = performance.now();
const result = await (verb === 'recover' ? recoverToEnd : updateToEnd)(files, update);
process.stdout.write(`${JSON.stringify({ result, milliseconds: performance.now() - start })}\n`);

function killedAt(real: FileSystem, at: number): FileSystem {
  let calls = 0;
  return aroundCalls(real, async (each, run) => {
    if (isChange(each) && calls++ === at) {
      process.kill(process.pid, 'SIGKILL');
      // The signal is on its way: nothing more is to happen.
      return new Promise(() => {});
    }
    return run();
  });
}
