import { bootImageHoldAnnotation } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { readKeptImages } from '../reports/boot-image-history.ts';
import { sampleBootImage, sampleHistory, workerA } from '../testing/sample-boot-images.ts';
import { platformDef } from './platforms/index.ts';
import { holdSteps, releaseSteps, restorationTo } from './restoration.ts';

const spec = { kind: 'GCPMachineProviderSpec', disks: [{ boot: true, image: sampleBootImage('2'), labels: null }] };
const { imagePaths } = platformDef('gcp').providerSpec;
const facts = { resource: workerA, spec, imagePaths, kept: readKeptImages(sampleHistory) };
const HOLD_PATH = '/metadata/annotations/slipway.dev~1boot-image-hold';

describe('restoring an image', () => {
  it('sets it where it was, and changes nothing else', () => {
    expect(restorationTo('9.6.1-0', facts)).toEqual({
      ok: true,
      restoration: {
        image: sampleBootImage('1'),
        hold: '9.6.1-0',
        spec: { ...spec, disks: [{ boot: true, image: sampleBootImage('1'), labels: null }] },
      },
    });
  });

  it('rolls back to the image before Slipway, by its name', () => {
    expect(restorationTo(sampleBootImage('0'), facts)).toMatchObject({
      restoration: { image: sampleBootImage('0'), hold: sampleBootImage('0') },
    });
  });

  it.each([
    ['9.8.2-0', facts, /no recorded boot image "9\.8\.2-0"; recorded: 9\.6\.1-0, projects/],
    ['9.6.1-0', { ...facts, kept: [] }, /none is recorded/],
    ['9.6.1-0', { ...facts, spec: { disks: [] } }, /no longer fits the spec of its machines/],
    ['', facts, /no recorded boot image ""/],
  ])('is refused if impossible: %s', (wanted, given, words) => {
    expect(restorationTo(wanted, given)).toEqual({ ok: false, problem: expect.stringMatching(words) as string });
  });
});

it('holding sets an annotation, and nothing if it is already held there', () => {
  expect(holdSteps({ a: 'b' }, '1')).toEqual([{ op: 'add', path: HOLD_PATH, value: '1' }]);
  expect(holdSteps({ [bootImageHoldAnnotation]: '1' }, '1')).toEqual([]);
});

it('releasing removes the hold and nothing else', () => {
  expect(releaseSteps({ a: 'b', [bootImageHoldAnnotation]: '' })).toEqual([{ op: 'remove', path: HOLD_PATH }]);
  expect(releaseSteps({ a: 'b' })).toEqual([]);
  expect(releaseSteps(undefined)).toEqual([]);
});
