import { expect, it } from 'vitest';
import { osMajor } from './os-version.ts';

it.each([
  ['9.8.20260428-0', 9],
  ['10.2.20260423-0', 10],
  ['9.6.2026030314', 9],
  ['418.94.202410090804-0', 9],
  ['412.86.202301061548-0', 8],
  ['48.84.202109241901-0', 8],
  ['419.6.20250523', 9],
  ['4.18.2026012111', 9],
  ['4.8.2021122100', 8],
  ['40.20240416.3.1', null],
  ['latest', null],
  ['', null],
])('an image of version %s has OS %s', (version, major) => {
  expect(osMajor(version)).toBe(major);
});
