// 200 machines, on a line as slow as real ones are, are in pinned-images-fleet.slow.test.ts.
import { afterAll, beforeAll, it } from 'vitest';
import { expectBoundedWrites, WITHIN_MS } from './pinned-images/bounded-writes.ts';
import { type PinFleet, startPinFleet } from './pinned-images/pin-fleet.ts';

let fleet: PinFleet;
beforeAll(async () => {
  fleet = await startPinFleet({ machines: 8, bytesPerSecond: 80e6 });
}, WITHIN_MS);
afterAll(() => fleet?.stop());

it(
  '8 machines pull 50 images with a bounded number of writes, and the pool says what is so all the while',
  () => expectBoundedWrites(fleet),
  2 * WITHIN_MS,
);
