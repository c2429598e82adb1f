// The small form of rollout-thousand-daemons.slow.test.ts.
import { afterAll, beforeAll, it } from 'vitest';
import { type DaemonFleet, startDaemonFleet } from './separate-daemons/daemon-fleet.ts';
import { expectRollout } from './separate-daemons/rollout.ts';

let fleet: DaemonFleet;

beforeAll(async () => {
  fleet = await startDaemonFleet({
    machines: 20,
    processes: 1,
    maxUnavailable: '50%',
    bootMs: 100,
    withinMs: 100_000,
  });
}, 120_000);
afterAll(() => fleet?.stop(), 60_000);

it('a rollout reaches twenty daemons with their own connections, within maxUnavailable and with one reboot each', async () => {
  await expectRollout(fleet, 10);
}, 120_000);
