import { describe, expect, it } from 'vitest';
import { dataImageStatus, statusOutOfReach, statusWithoutHost } from './data-image-status.ts';
import { type ObservedDataImage, DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { nextHostStep } from './next-host-step.ts';
import {
  anImage,
  sampleHostMemory,
  attachedA,
  drive,
  empty,
  buildFacts,
  foreign,
  type FactsInput,
  ISO_A,
  ISO_B,
  NOW,
  off,
  ours,
  PUBLISHED,
} from './testing/facts.ts';

/** With the step that is next. */
function computeStatus(given: FactsInput) {
  const facts = buildFacts(given);
  return dataImageStatus(facts, anImage(given.image), nextHostStep(facts, DEFAULT_STEP_OPTIONS), DEFAULT_STEP_OPTIONS);
}

const REBOOT = 'kubectl annotate -n metal bmh worker-0 reboot.metal3.io=';
const failed = drive({ failures: 2, notBefore: NOW + 60_000, message: `${ISO_A} was not attached: not found` });

describe('status of a DataImage', () => {
  it.each<[string, FactsInput, string, string, readonly string[]]>([
    ['attached', { image: { memory: attachedA } }, 'True', 'Attached', [ISO_A]],
    [
      'waiting for a reboot that is not automatic',
      { image: {} },
      'False',
      'WaitsForReboot',
      ['Slipway does not reboot it', REBOOT],
    ],
    [
      'deleted and waiting',
      { image: { memory: attachedA, isDeleting: true } },
      'True',
      'DetachWaitsForReboot',
      [REBOOT],
    ],
    [
      'changed and waiting',
      { image: { memory: attachedA, url: ISO_B } },
      'False',
      'ChangeWaitsForReboot',
      [ISO_A, ISO_B, REBOOT],
    ],
    [
      'waiting for a manual power cycle of a host that Slipway must not power off',
      { image: {}, host: { isPowerOffDisabled: true } },
      'False',
      'WaitsForReboot',
      ['spec.disablePowerOff of BareMetalHost metal/worker-0', 'spec.immediate', 'power cycle'],
    ],
    [
      'being attached',
      { image: { memory: drive({ doing: 'attach', isSent: true }) }, node: { ...off, reservation: 'x' } },
      'False',
      'Attaching',
      [],
    ],
    [
      'about to be ejected',
      { image: { memory: attachedA, isDeleting: true }, node: off, drive: ours },
      'False',
      'Detaching',
      [ISO_A],
    ],
    [
      'attached, whose name the BMC reports in capitals by now',
      { image: { memory: attachedA }, drive: { inserted: true, image: PUBLISHED.toUpperCase() } },
      'True',
      'Attached',
      [ISO_A],
    ],
    ['about to be attached', { image: {}, node: off, drive: empty }, 'False', 'Pending', []],
    [
      'being ejected',
      { image: { memory: drive({ doing: 'detach', isSent: true }) }, node: { ...off, reservation: 'x' } },
      'False',
      'Detaching',
      [],
    ],
    [
      'failed, with the host kept off, and what to do',
      { image: { memory: failed }, node: off },
      'False',
      'AttachFailed',
      [
        'not found',
        'Failed 2 times',
        '1970-01-12T13:47:40.000Z',
        'stays off',
        'correct the URL',
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
    ['attached by another operator', { image: { attachedUrl: ISO_B } }, 'Unknown', 'NotVerified', [ISO_B]],
    [
      'on a BMC that cannot do it',
      { image: {}, host: { bmc: { ok: false, code: 'SLW_BMC_DRIVER', message: 'ipmi' } } },
      'False',
      'Unsupported',
      ['SLW_BMC_DRIVER', 'SLW_DATA_IMAGE_UNSUPPORTED', 'may boot without the ISO'],
    ],
    [
      'at an address that Ironic must not be sent to',
      { image: { refusal: 'the host localhost resolves to 127.0.0.1' }, node: off },
      'False',
      'AddressRefused',
      ['localhost resolves', 'SLW_DATA_IMAGE_ADDRESS', '--allow-address', 'may boot without the ISO'],
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
    const { attached } = computeStatus(given);
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
    expect(computeStatus({ image: { memory: attachedA } }).attachedImage).toEqual({ url: ISO_A });
    expect(
      computeStatus({ image: { memory: drive({ doing: 'attach', isSent: true }) } }).attachedImage,
    ).toBeUndefined();
    expect(computeStatus({ image: { memory: drive({ doing: 'detach' }) } }).attachedImage).toBeUndefined();
    expect(computeStatus({ image: { memory: null, attachedUrl: null } }).attachedImage).toBeUndefined();
  });

  it('has the number of failures, and the reason of the last one', () => {
    expect(computeStatus({ image: { memory: failed }, node: off }).error).toEqual({
      count: 2,
      message: failed.message,
    });
    expect(computeStatus({ image: { memory: attachedA } }).error).toBeUndefined();
  });

  it('counts a drive that cannot be read as a failure, as long as it lasts', () => {
    const { error } = computeStatus({ image: {}, node: off, driveProblem: 'timeout' });
    expect(error).toMatchObject({ count: 1, message: expect.stringContaining('timeout') });
    expect(computeStatus({ image: {}, node: off, drive: empty }).error).toBeUndefined();
    expect(computeStatus({ image: { memory: attachedA }, node: off, driveProblem: 'timeout' }).error).toBeUndefined();
  });
});

describe('status of a DataImage whose host Slipway leaves alone or cannot reach', () => {
  const compute = (image: Partial<ObservedDataImage>) =>
    statusOutOfReach(anImage(image), { namespace: 'metal', name: 'worker-0' }, 'is paused: remove the annotation');
  const message = 'BareMetalHost metal/worker-0 is paused: remove the annotation';

  it.each<[string, Partial<ObservedDataImage>, object]>([
    ['is new', {}, { attachedImage: undefined, attached: { status: 'False' } }],
    ['is being attached', { memory: drive({ doing: 'attach', isSent: true }) }, { attached: { status: 'False' } }],
    ['has failed before', { memory: failed }, { error: { count: 2, message: failed.message } }],
    ['changes', { memory: attachedA, url: ISO_B }, { attachedImage: { url: ISO_A }, attached: { status: 'False' } }],
    ['goes', { memory: attachedA, isDeleting: true }, { attachedImage: { url: ISO_A }, attached: { status: 'True' } }],
  ])('says why nothing happens, if it %s', (_, image, expected) => {
    const found = compute(image);
    expect(found).toMatchObject(expected);
    expect(found?.attached).toMatchObject({ reason: 'HostNotReady', message });
  });

  it('is unchanged if nothing waits', () => {
    expect(compute({ memory: attachedA })).toBeNull();
    expect(compute({ attachedUrl: ISO_B })).toBeNull();
  });
});

describe('an ISO that was verified', () => {
  const adopted = { memory: sampleHostMemory({ doing: 'adopt', isSent: true }) };
  const found = (
    given: FactsInput,
    besideOperator = false,
    image: Partial<ObservedDataImage> = { memory: attachedA },
  ) =>
    dataImageStatus(
      buildFacts({ ...given, image }),
      anImage(image),
      { type: 'wait', why: 'at rest', ms: null },
      { besideOperator },
    );

  it.each<[string, FactsInput]>([
    ['while nothing has happened since', {}],
    ['if the drive still shows it', { drive: ours }],
    ['on a detached host, which keeps its medium', { host: { isDetached: true }, node: null }],
    ['on a host that was adopted again and still shows it', { host: adopted, drive: ours }],
  ])('is attached %s', (_, given) => {
    expect(found(given)).toMatchObject({ attachedImage: { url: ISO_A }, attached: { status: 'True' } });
  });

  it.each<[string, FactsInput, RegExp]>([
    ['that Ironic has forgotten', { node: null }, /adopt the host again/],
    ['that is being adopted', { node: { provisionState: 'adopting' } }, /adopt the host again/],
    ['that was adopted again and does not answer', { host: adopted, driveProblem: 'BMC down' }, /BMC down/],
    ['whose drive is empty', { drive: empty }, /empty now/],
    ['whose drive shows another medium', { drive: foreign }, /somebody\.example/],
  ])('is not reported as attached to a host %s', (_, given, why) => {
    const { attachedImage, attached } = found(given);
    expect(attachedImage).toBeUndefined();
    expect(attached).toMatchObject({ status: 'Unknown', reason: 'NotVerified', message: expect.stringMatching(why) });
  });

  it('alongside another operator is doubted only if the drive shows otherwise', () => {
    expect(found({ node: { provisionState: 'adopting' } }, true).attached.status).toBe('True');
    expect(found({ drive: empty }, true).attached.status).toBe('Unknown');
  });

  it('is the only one that is doubted', () => {
    expect(found({ node: null }, false, {}).attached.reason).not.toBe('NotVerified');
  });
});
