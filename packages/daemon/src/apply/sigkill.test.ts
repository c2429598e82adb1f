// Real processes, real signals, a real disk. Fifty kills, and one at every call, are in sigkill.slow.test.ts.
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
  'after ten daemons were killed in their update, every machine is exactly old or exactly new',
  { timeout: LONG },
  () => expectExactAfterKills(machine, 10, sampleSeed()),
);
