// A rollout over a thousand real daemons to its end: real control plane, controllers and server; every daemon has the
// certificate of its node, its own connections and its own watches. Only the machines are simulated.
import { afterAll, beforeAll, it } from 'vitest';
import { type DaemonFleet, startDaemonFleet } from './separate-daemons/daemon-fleet.ts';
import { expectRollout } from './separate-daemons/rollout.ts';

const MINUTE = 60_000;

let fleet: DaemonFleet;

beforeAll(async () => {
  const begun = performance.now();
  fleet = await startDaemonFleet({
    machines: 1000,
    processes: 4,
    maxUnavailable: '10%',
    bootMs: 1000,
    withinMs: 30 * MINUTE,
  });
  console.log(`1000 machines joined in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
}, 30 * MINUTE);
afterAll(() => fleet?.stop(), 5 * MINUTE);

it(
  'a rollout reaches a thousand daemons with their own connections, within maxUnavailable and with one reboot each',
  () => expectRollout(fleet, 100),
  30 * MINUTE,
);
