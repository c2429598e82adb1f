import { expect, it } from 'vitest';
import { decideSpaceAction } from './space-guard.ts';

const GB = 1e9;
const LARGE = { sizeBytes: 100 * GB };
const SMALL = { sizeBytes: 10 * GB };
const pulling = { isPulling: true, isAbandoned: false };
const cancelled = { isPulling: false, isAbandoned: false };

it.each([
  ['there is space', { ...LARGE, freeBytes: 50 * GB }, pulling, 'none'],
  ['the reserve of a large disk, 2 GiB, is just left', { ...LARGE, freeBytes: 2 ** 31 }, pulling, 'none'],
  ['a byte of it is used', { ...LARGE, freeBytes: 2 ** 31 - 1 }, pulling, 'cancel'],
  ['a tenth of a small disk is left', { ...SMALL, freeBytes: GB }, pulling, 'none'],
  ['a byte of that is used', { ...SMALL, freeBytes: GB - 1 }, pulling, 'cancel'],
  ['the pulls are cancelled and half of the reserve is left', { ...SMALL, freeBytes: GB / 2 }, cancelled, 'none'],
  ['the pulls are cancelled and it falls further', { ...SMALL, freeBytes: GB / 2 - 1 }, cancelled, 'abandon'],
  ['that did not help', { ...SMALL, freeBytes: 0 }, { ...cancelled, isAbandoned: true }, 'none'],
  ['pulls started again after that', { ...SMALL, freeBytes: 0 }, { isPulling: true, isAbandoned: true }, 'cancel'],
] as const)('while images are pulled: %s', (_, store, facts, action) => {
  expect(decideSpaceAction(store, facts)).toBe(action);
});
