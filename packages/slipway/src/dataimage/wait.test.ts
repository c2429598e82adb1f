import type { DataImage } from '@slipway/api';
import { driveEntry, hostEntry } from '@slipway/fleet/reports';
import { type HostSample, sampleHost, sampleImage, URL } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { waitState } from './wait.ts';

const deleting = { deletionTimestamp: '2026-11-16T12:00:00Z' };
const attachedImage = sampleImage({ reason: 'Attached', attached: URL });

const computeState = (image: DataImage | null, wanted: string | null, reboot = false, host: HostSample = {}) => {
  const found = sampleHost(host);
  const entry = image === null ? null : driveEntry(image, found);
  return waitState({ entry, host: hostEntry(found) }, { url: wanted, reboot });
};

describe('an attach is done', () => {
  it('when the controller has verified this ISO', () => {
    expect(computeState(attachedImage, URL)).toEqual({ type: 'done' });
  });

  it.each([
    ['a status of the previous ISO', sampleImage({ reason: 'Attached', attached: 'http://10.0.0.5/old.iso' })],
    ['an ISO that is no longer verified', sampleImage({ reason: 'NotVerified', attached: URL })],
    ['a failure that is retried', sampleImage({ reason: 'AttachFailed', message: 'no such file' })],
    ['nothing', sampleImage()],
  ])('and not with %s', (_, image) => {
    expect(computeState(image, URL).type).toBe('waiting');
  });

  it('never, if another client changed the request or the BMC does not support it', () => {
    expect(computeState(null, URL)).toEqual({ type: 'hopeless', why: 'another client deleted the DataImage' });
    expect(computeState(sampleImage({ metadata: deleting }), URL).type).toBe('hopeless');
    expect(computeState(sampleImage(), 'http://10.0.0.5/other.iso').type).toBe('hopeless');
    const unsupported = sampleImage({ reason: 'Unsupported', message: 'the driver cannot' });
    expect(computeState(unsupported, URL)).toEqual({ type: 'hopeless', why: 'the driver cannot' });
  });

  it('with a reboot only after the host is on again', () => {
    const asked = { annotations: { 'reboot.metal3.io': '' } };
    expect(computeState(attachedImage, URL, true, asked)).toMatchObject({ why: 'the host is being switched off' });
    expect(computeState(attachedImage, URL, true, { poweredOn: false })).toMatchObject({
      why: 'the host is being switched on',
    });
    expect(computeState(attachedImage, URL, true)).toEqual({ type: 'done' });
    expect(computeState(attachedImage, URL, true, { poweredOn: false, online: false })).toEqual({ type: 'done' });
  });
});

describe('a detach is done', () => {
  it('when the DataImage is deleted, even if another client created a new one', () => {
    expect(computeState(sampleImage({ metadata: deleting, reason: 'Detaching' }), null).type).toBe('waiting');
    expect(computeState(null, null)).toEqual({ type: 'done' });
    expect(computeState(sampleImage(), null)).toEqual({ type: 'done' });
  });
});
