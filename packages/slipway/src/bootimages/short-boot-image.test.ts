import { expect, it } from 'vitest';
import { shortBootImage } from './short-boot-image.ts';

it.each([
  ['', ''],
  ['ami-0fbc8be8796dc1df5', 'ami-0fbc8be8796dc1df5'],
  ['projects/rhcos-cloud/global/images/rhcos-9-8-20260428-0-gcp-x86-64', 'rhcos-9-8-20260428-0-gcp-x86-64'],
  ['/dc1/vm/demo/demo-rhcos-fd1', 'demo-rhcos-fd1'],
  ['https://mirror.example.com/', 'https://mirror.example.com/'],
  [`x${'y'.repeat(40)}-9.8.20260428-0`, `…${'y'.repeat(32)}-9.8.20260428-0`],
])('%s is %s', (image, short) => {
  expect(shortBootImage(image)).toBe(short);
  expect(shortBootImage(image).length).toBeLessThanOrEqual(48);
});
