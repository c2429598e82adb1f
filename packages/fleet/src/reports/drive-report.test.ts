import { describe, expect, it } from 'vitest';
import { type ImageSample, sampleHost, sampleImage, URL } from '../testing/sample-drive.ts';
import { driveEntry, driveReport, isInDrive } from './drive-report.ts';

describe('the state of a DataImage', () => {
  it.each([
    ['what the controller has verified', { reason: 'Attached', attached: URL }, 'attached'],
    ['one that waits for a reboot', { reason: 'WaitsForReboot' }, 'waits for a reboot'],
    [
      'another ISO that waits for a reboot',
      { reason: 'ChangeWaitsForReboot', attached: 'http://a/b' },
      'waits for a reboot',
    ],
    ['a failure', { reason: 'AttachFailed' }, 'failed'],
    ['a reason of a later controller', { reason: 'SomethingNew' }, 'not known'],
    ['nothing yet', {}, 'not looked at'],
    ['what an operator without conditions has attached', { attached: URL }, 'attached'],
    ['what such an operator has attached before the URL changed', { attached: 'http://a/b' }, 'not looked at'],
    ['one that is being deleted', { reason: 'Attached', attached: URL, metadata: { generation: 2 } }, 'not looked at'],
    [
      'a condition from before spec last changed',
      { reason: 'Attached', attached: 'http://a/b', metadata: { generation: 2 } },
      'not looked at',
    ],
  ])('%s', (_, sample, state) => {
    expect(driveEntry(sampleImage(sample), sampleHost()).state).toBe(state);
  });
});

it('an ISO is in the drive if the controller has verified it and its state is known', () => {
  const isIn = (sample: ImageSample): boolean => isInDrive(driveEntry(sampleImage(sample), sampleHost()), URL);
  expect(isIn({ reason: 'Attached', attached: URL })).toBe(true);
  expect(isIn({ reason: 'Attached', attached: URL, metadata: { generation: 2 } })).toBe(true);
  expect(isIn({ reason: 'NotVerified', attached: URL })).toBe(false);
  expect(isIn({ reason: 'Attached', attached: 'http://a/b' })).toBe(false);
  expect(isIn({ reason: 'WaitsForReboot' })).toBe(false);
});

describe('the report', () => {
  it('is sorted, and has the relevant state of each host', () => {
    const reboot = { 'reboot.metal3.io': '', 'reboot.metal3.io/upgrade': '{"mode":"hard"}' };
    const { dataImages } = driveReport(
      [sampleImage({ metadata: { name: 'host-1' } }), sampleImage()],
      [sampleHost({ annotations: { ...reboot, 'baremetalhost.metal3.io/paused': '' }, poweredOn: false })],
    );
    expect(dataImages).toMatchObject([
      {
        name: 'host-0',
        host: { isOn: false, shallBeOn: true, rebootAsked: true, heldOffBy: ['upgrade'], isPaused: true, error: null },
      },
      { name: 'host-1', host: null },
    ]);
  });
});
