import { afterAll, beforeAll, it } from 'vitest';
import { BYTES_PER_SECOND, expectBoundedWrites, WITHIN_MS } from './pinned-images/bounded-writes.ts';
import { type PinFleet, startPinFleet } from './pinned-images/pin-fleet.ts';

let fleet: PinFleet;
beforeAll(async () => {
  fleet = await startPinFleet({ machines: 200, bytesPerSecond: BYTES_PER_SECOND });
}, WITHIN_MS);
afterAll(() => fleet?.stop());

it(
  '200 machines pull 50 images with a bounded number of writes, and the pool says what is so all the while',
  () => expectBoundedWrites(fleet),
  2 * WITHIN_MS,
);
