import { afterAll, beforeAll, it } from 'vitest';
import { expectBoundedWrites, WITHIN_MS } from './pinned-images/bounded-writes.ts';
import { type PinFleet, startPinFleet } from './pinned-images/pin-fleet.ts';

let fleet: PinFleet;
beforeAll(async () => {
  // An image of 20 MB takes 1 s, and five are pulled at once.
  fleet = await startPinFleet({ machines: 200, bytesPerSecond: 20e6 });
}, WITHIN_MS);
afterAll(() => fleet?.stop());

it(
  '200 machines pull 50 images with a bounded number of writes, and the pool says what is so all the while',
  () => expectBoundedWrites(fleet),
  2 * WITHIN_MS,
);
