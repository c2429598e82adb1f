import { silentLog } from '@slipway/kube';
import { createManualClock } from '@slipway/testing/manual-clock';
import { expect, it } from 'vitest';
import { CommandError } from '../cli/errors.ts';
import { untilRefused } from './controller.ts';

const MINUTE = 60_000;
const other = new CommandError('SLW_DATA_IMAGE_OPERATOR', 'a baremetal-operator runs in this cluster');

/** `results`: of the checks in order; the last one repeats. */
function startChecks(...results: (Error | null)[]) {
  const clock = createManualClock();
  const stop = new AbortController();
  let checks = 0;
  async function check(): Promise<void> {
    const result = results[Math.min(checks, results.length - 1)] ?? null;
    checks += 1;
    if (result !== null) throw result;
  }
  const refusal = untilRefused(check, { signal: stop.signal, log: silentLog(), clock });
  return { clock, stop, refusal, checks: () => checks };
}

it('another operator that is installed after the start is found within 5 minutes, and named', async () => {
  const { clock, refusal, checks } = startChecks(null, other);
  await clock.advance(4 * MINUTE);
  expect(checks()).toBe(0);
  await clock.advance(6 * MINUTE);
  expect(await refusal).toBe(other);
  expect(checks()).toBe(2);
});

it('a check that fails for another reason is repeated, and ends nothing', async () => {
  const { clock, stop, refusal, checks } = startChecks(new Error('no answer'), null);
  await clock.advance(60 * MINUTE);
  expect(checks()).toBe(12);
  stop.abort();
  expect(await refusal).toBeNull();
});
