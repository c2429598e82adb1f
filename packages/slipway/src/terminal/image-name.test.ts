import { expect, it } from 'vitest';
import { shortImage } from './image-name.ts';

it.each([
  [`registry.example.com/os@sha256:${'1f2e'.repeat(16)}`, 'registry.example.com/os@sha256:1f2e1f2e1f2e…'],
  ['registry.example.com/os:4.22', 'registry.example.com/os:4.22'],
  ['os@sha256:short', 'os@sha256:short'],
])('%s is shown as %s', (reference, shown) => {
  expect(shortImage(reference)).toBe(shown);
});
