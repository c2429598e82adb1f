// Real processes, real signals, a real disk. sigkill.slow.test.ts has fifty kills, and one at every call.
import { sampleSeed } from '@slipway/testing/sample';
import { afterAll, beforeAll, it } from 'vitest';
import { expectExactAfterKills, type KilledMachine, makeKilledMachine } from './testing/killed.ts';

const LONG = 180_000;

let machine: KilledMachine;
beforeAll(async () => {
  machine = await makeKilledMachine('update with reboot');
}, LONG);
afterAll(() => machine.remove());

it(
  'after ten daemons were killed during updates, every machine is exactly at the old or the new config',
  { timeout: LONG },
  () => expectExactAfterKills(machine, 10, sampleSeed()),
);
