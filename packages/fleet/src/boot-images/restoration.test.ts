import { bootImageHoldAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { readKeptImages } from '../reports/boot-image-history.ts';
import { sampleBootImage, sampleHistory, workerA } from '../testing/sample-boot-images.ts';
import { holdSteps, releaseSteps, restorationTo } from './restoration.ts';

const spec = { kind: 'GCPMachineProviderSpec', disks: [{ boot: true, image: sampleBootImage('2'), labels: null }] };
const facts = { resource: workerA, spec, kept: readKeptImages(sampleHistory) };
const HOLD_PATH = '/metadata/annotations/slipway.dev~1boot-image-hold';

describe('restoring an image', () => {
  it('puts it where it was, and touches nothing else', () => {
    expect(restorationTo('9.6.1-0', facts)).toEqual({
      ok: true,
      restoration: {
        image: sampleBootImage('1'),
        hold: '9.6.1-0',
        spec: { ...spec, disks: [{ boot: true, image: sampleBootImage('1'), labels: null }] },
      },
    });
  });

  it('goes back to what was there before Slipway, by the name of the image', () => {
    expect(restorationTo(sampleBootImage('0'), facts)).toMatchObject({
      restoration: { image: sampleBootImage('0'), hold: sampleBootImage('0') },
    });
  });

  it.each([
    ['9.8.2-0', facts, /no boot image "9\.8\.2-0" that is still known; there is 9\.6\.1-0, projects/],
    ['9.6.1-0', { ...facts, kept: [] }, /no image of it is kept/],
    ['9.6.1-0', { ...facts, spec: { disks: [] } }, /has no place in what describes its machines any more/],
    ['', facts, /still known/],
  ])('refuses what it cannot do: %s', (wanted, given, words) => {
    expect(restorationTo(wanted, given)).toEqual({ ok: false, problem: expect.stringMatching(words) as string });
  });
});

it('holding is an annotation, and nothing where it is held there already', () => {
  expect(holdSteps({ a: 'b' }, '1')).toEqual([{ op: 'add', path: HOLD_PATH, value: '1' }]);
  expect(holdSteps({ [bootImageHoldAnnotation]: '1' }, '1')).toEqual([]);
});

it('releasing takes the hold away and nothing else', () => {
  expect(releaseSteps({ a: 'b', [bootImageHoldAnnotation]: '' })).toEqual([{ op: 'remove', path: HOLD_PATH }]);
  expect(releaseSteps({ a: 'b' })).toEqual([]);
  expect(releaseSteps(undefined)).toEqual([]);
});
