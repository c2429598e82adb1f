import { describe, expect, it } from 'vitest';
import { dataImageStatus, statusWithoutHost } from './data-image-status.ts';
import { usualOptions } from './host-step.ts';
import { nextHostStep } from './next-host-step.ts';
import { anImage, attachedA, drive, empty, factsOf, type Given, isoA, isoB, now, off } from './testing/facts.ts';

/** With the step that is next. */
function statusOf(given: Given) {
  const facts = factsOf(given);
  return dataImageStatus(facts, anImage(given.image), nextHostStep(facts, usualOptions));
}

const reboot = 'kubectl annotate -n metal bmh worker-0 reboot.metal3.io=';
const failed = drive({ failures: 2, notBefore: now + 60_000, message: `${isoA} was not attached: not found` });

describe('status of a DataImage', () => {
  it.each<[string, Given, string, string, readonly string[]]>([
    ['attached', { image: { memory: attachedA } }, 'True', 'Attached', [isoA]],
    [
      'waiting for a reboot that nobody does by itself',
      { image: {} },
      'False',
      'WaitsForReboot',
      ['Nobody reboots it', reboot],
    ],
    [
      'deleted and waiting',
      { image: { memory: attachedA, isDeleting: true } },
      'True',
      'DetachWaitsForReboot',
      [reboot],
    ],
    [
      'changed and waiting',
      { image: { memory: attachedA, url: isoB } },
      'False',
      'ChangeWaitsForReboot',
      [isoA, isoB, reboot],
    ],
    [
      'being attached',
      { image: { memory: drive({ doing: 'attach', isSent: true }) }, node: { ...off, reservation: 'x' } },
      'False',
      'Attaching',
      [],
    ],
    ['about to be attached', { image: {}, node: off, drive: empty }, 'False', 'Pending', []],
    [
      'being taken out',
      { image: { memory: drive({ doing: 'detach', isSent: true }) }, node: { ...off, reservation: 'x' } },
      'False',
      'Detaching',
      [],
    ],
    [
      'failed, with the host held off, and the ways out',
      { image: { memory: failed }, node: off },
      'False',
      'AttachFailed',
      [
        'not found',
        'Failed 2 times',
        '1970-01-12T13:47:40.000Z',
        'held off',
        'put the URL right',
        'delete the DataImage',
        'boot-anyway-after=1',
      ],
    ],
    [
      'failed, and booted anyway',
      { image: { memory: failed, bootAnywayAfter: 2 }, node: off },
      'False',
      'BootedWithoutImage',
      ['not found', 'boots without it'],
    ],
    [
      'with a drive that cannot be read',
      { image: {}, node: off, driveProblem: 'timeout' },
      'False',
      'DriveUnreadable',
      ['timeout'],
    ],
    ['attached by another operator', { image: { attachedUrl: isoB } }, 'Unknown', 'NotVerified', [isoB]],
    [
      'on a BMC that cannot do it',
      { image: {}, host: { bmc: { ok: false, code: 'SLW_BMC_DRIVER', message: 'ipmi' } } },
      'False',
      'Unsupported',
      ['SLW_BMC_DRIVER', 'SLW_DATA_IMAGE_UNSUPPORTED', 'not held off'],
    ],
    [
      'of a detached host',
      { image: {}, host: { isDetached: true }, node: null },
      'False',
      'HostNotReady',
      ['remove the annotation'],
    ],
    [
      'of a host of another operator',
      { image: {}, host: { isForeign: true } },
      'False',
      'HostNotReady',
      ['--data-images-beside-operator'],
    ],
    ['of a host in maintenance', { image: {}, node: { maintenance: true } }, 'False', 'HostNotReady', ['maintenance']],
  ])('%s', (_, given, status, reason, parts) => {
    const { attached } = statusOf(given);
    expect(attached).toMatchObject({ status, reason });
    for (const part of parts) expect(attached.message).toContain(part);
  });

  it.each([['NoHost', statusWithoutHost(anImage(), { namespace: 'metal', name: 'worker-0' })]])(
    '%s',
    (reason, status) => {
      expect(status.attached).toMatchObject({ status: 'False', reason });
    },
  );

  it('names the ISO only while it is verified to be in the drive', () => {
    expect(statusOf({ image: { memory: attachedA } }).attachedImage).toEqual({ url: isoA });
    expect(statusOf({ image: { memory: drive({ doing: 'attach', isSent: true }) } }).attachedImage).toBeUndefined();
    expect(statusOf({ image: { memory: drive({ doing: 'detach' }) } }).attachedImage).toBeUndefined();
    expect(statusOf({ image: { memory: null, attachedUrl: null } }).attachedImage).toBeUndefined();
  });

  it('counts failures, and says why the last one', () => {
    expect(statusOf({ image: { memory: failed }, node: off }).error).toEqual({ count: 2, message: failed.message });
    expect(statusOf({ image: { memory: attachedA } }).error).toBeUndefined();
  });
});
