import { describe, expect, it } from 'vitest';
import { type HostStep, DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { nextHostStep, stepWithoutHost } from './next-host-step.ts';
import {
  anImage,
  sampleHostMemory,
  attachedA,
  drive,
  empty,
  buildFacts,
  type FactsInput,
  ISO_A,
  NOW,
  off,
  ours,
} from './testing/facts.ts';

const MINUTES = 60_000;
const decideStep = (given: FactsInput): HostStep => nextHostStep(buildFacts(given), DEFAULT_STEP_OPTIONS);
const plain = { key: '', mode: 'soft', since: 0 } as const;
const plainHard = { key: '', mode: 'hard', since: 0 } as const;
const keyed = { key: 'somebody', mode: 'soft', since: 0 } as const;
const own = { key: 'slipway', mode: 'soft', since: 0 } as const;

/** A step in one line: what it is, and of what. */
function told(step: HostStep): string {
  if (step.type === 'wait') return `wait: ${step.why}`;
  if (step.type === 'provision' || step.type === 'power') return `${step.type}: ${step.target}`;
  if (step.type === 'set maintenance') return `set maintenance: ${step.maintenance}`;
  return step.type;
}

type Row = readonly [string, FactsInput, string];

describe('registration', () => {
  it.each<Row>([
    ['a new host gets our finalizer first', { host: { hasFinalizer: false }, node: null }, 'add host finalizer'],
    ['then a node', { node: null }, 'register'],
    [
      'and waits if that failed',
      { node: null, host: { memory: sampleHostMemory({ failures: 1, notBefore: NOW + 1 }) } },
      'wait: backoff',
    ],
    ['a new node is managed', { node: { provisionState: 'enroll' } }, 'provision: manage'],
    ['which takes time', { node: { provisionState: 'verifying' } }, 'wait: busy'],
    ['a managed node is adopted', { node: { provisionState: 'manageable' } }, 'provision: adopt'],
    ['which takes time too', { node: { provisionState: 'adopting' } }, 'wait: busy'],
    [
      'and is tried again',
      { node: { provisionState: 'adopt failed', targetProvisionState: 'active' } },
      'provision: adopt',
    ],
    ['an adopted node that is on is at rest', {}, 'wait: at rest'],
    ['a locked node is ignored', { node: { provisionState: 'enroll', reservation: 'x' } }, 'wait: busy'],
    [
      'a node that is used for something else is ignored',
      { node: { provisionState: 'deploying' } },
      'wait: node state',
    ],
    ['a node in maintenance is ignored', { node: { maintenance: true } }, 'wait: maintenance'],
    [
      'an unusable BMC is waited for',
      { node: null, host: { bmc: { ok: false, code: 'SLW_BMC_ADDRESS', message: 'no' } } },
      'wait: bmc',
    ],
    ['a changed Secret or address is sent', { node: { sentDigest: 'before' } }, 'update node'],
    [
      'also to a node that is in maintenance because of it',
      { node: { sentDigest: 'before', maintenance: true } },
      'update node',
    ],
    ['and to one that another operator created', { node: { sentDigest: null } }, 'update node'],
    [
      'it does not wait for what the old one failed at',
      { node: { sentDigest: 'before' }, host: { memory: sampleHostMemory({ failures: 3, notBefore: NOW + 1 }) } },
      'update node',
    ],
    [
      'but for what Ironic has refused',
      {
        node: { sentDigest: 'before' },
        host: { memory: sampleHostMemory({ doing: 'update', failures: 1, notBefore: NOW + 1 }) },
      },
      'wait: backoff',
    ],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });

  it('that fails is counted, with the error of Ironic, and retried later', () => {
    const step = decideStep({
      node: { provisionState: 'enroll', lastError: 'wrong password' },
      host: { memory: sampleHostMemory({ doing: 'manage', isSent: true, since: NOW, failures: 1 }) },
    });
    expect(step).toEqual({
      type: 'remember host',
      memory: sampleHostMemory({ since: NOW, failures: 2, message: 'wrong password', notBefore: NOW + 3 * MINUTES }),
    });
  });

  it('that was interrupted is requested again, without being counted', () => {
    const memory = sampleHostMemory({ doing: 'adopt', since: NOW - MINUTES });
    expect(
      decideStep({ node: { provisionState: 'manageable', lastError: 'of before' }, host: { memory } }),
    ).toMatchObject({
      type: 'provision',
      remember: { doing: 'adopt', failures: 0, since: NOW, isSent: false },
    });
  });
});

describe('power', () => {
  it.each<Row>([
    ['online and off is switched on', { node: off }, 'power: power on'],
    ['not online and on is shut down', { host: { online: false } }, 'power: soft power off'],
    ['not online and off is left', { host: { online: false }, node: off }, 'wait: kept off'],
    ['a reboot starts with a shutdown', { host: { reboots: [plain] } }, 'power: soft power off'],
    ['or without, if requested', { host: { reboots: [plainHard] } }, 'power: power off'],
    ['once off, the request is served', { host: { reboots: [plain] }, node: off }, 'clear reboot'],
    ['and the host is switched on', { host: { reboots: [] }, node: off }, 'power: power on'],
    ['a request with a key switches it off', { host: { reboots: [keyed] } }, 'power: soft power off'],
    ['and keeps it off', { host: { reboots: [keyed] }, node: off }, 'wait: kept off'],
    ['despite other reboot requests', { host: { reboots: [keyed, plain] }, node: off }, 'clear reboot'],
    [
      'a host that must not be powered off stays on despite requests',
      { host: { isPowerOffDisabled: true, reboots: [plainHard, keyed] } },
      'wait: at rest',
    ],
    ['and despite spec.online', { host: { isPowerOffDisabled: true, online: false } }, 'wait: at rest'],
    [
      'once it is switched off by hand, the request is served',
      { host: { isPowerOffDisabled: true, reboots: [plain] }, node: off },
      'clear reboot',
    ],
    ['and it is switched on', { host: { isPowerOffDisabled: true }, node: off }, 'power: power on'],
    ['our own key is left over', { host: { reboots: [own] } }, 'release hold'],
    [
      'an operation in progress is waited for',
      { node: { targetPowerState: 'power off' }, host: { online: false } },
      'wait: busy',
    ],
    ['an unknown power state is waited for', { node: { powerState: null } }, 'wait: power unknown'],
    [
      'a host that was just powered on may be on, whatever Ironic reports: this does not serve its request',
      {
        node: off,
        host: { reboots: [plain], memory: sampleHostMemory({ doing: 'power on', isSent: true, onSince: NOW - 1000 }) },
      },
      'wait: busy',
    ],
    [
      'also if another shutdown was requested since then',
      {
        node: off,
        host: {
          online: false,
          memory: sampleHostMemory({ doing: 'soft power off', isSent: true, onSince: NOW - 1000 }),
        },
        image: {},
      },
      'wait: busy',
    ],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });

  const softSince = (ago: number, lastError: string | null = null): FactsInput => ({
    host: { online: false, memory: sampleHostMemory({ doing: 'soft power off', isSent: true, since: NOW - ago }) },
    node: { lastError },
  });

  it.each<Row>([
    ['has three minutes', softSince(179_999), 'wait: busy'],
    ['then the power is cut', softSince(180_000), 'power: power off'],
    ['or as soon as the BMC reports that it cannot', softSince(1000, 'not supported'), 'power: power off'],
    ['and a shutdown of another day is none of this one', softSince(24 * 60 * MINUTES), 'power: soft power off'],
  ])('an operating system that is asked to shut down %s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });

  it('that fails is counted, and tried again later', () => {
    const memory = sampleHostMemory({ doing: 'power on', isSent: true, since: NOW - MINUTES });
    const failed = decideStep({ node: { ...off, lastError: 'no answer' }, host: { memory } });
    expect(failed).toMatchObject({ type: 'remember host', memory: { failures: 1, message: 'power on: no answer' } });
    const later = sampleHostMemory({ failures: 1, notBefore: NOW + 1 });
    expect(told(decideStep({ node: off, host: { memory: later } }))).toBe('wait: backoff');
    expect(decideStep({ host: { memory: later } })).toMatchObject({
      type: 'remember host',
      memory: { failures: 0, notBefore: 0 },
    });
  });
});

describe('a DataImage belongs to its host', () => {
  const unclaimed = { hasFinalizer: false, hasOwner: false };
  it.each<Row>([
    ['as soon as both exist', { image: unclaimed }, 'claim image'],
    ['if only the owner is missing', { image: { hasOwner: false } }, 'claim image'],
    ['if only the finalizer is missing', { image: { hasFinalizer: false }, node: off, drive: empty }, 'claim image'],
    ['before its host is registered', { image: unclaimed, node: null, host: { hasFinalizer: false } }, 'claim image'],
    ['also if the BMC cannot attach it', { image: { ...unclaimed, refusal: 'x' } }, 'claim image'],
    ['also if another operator has the host', { image: unclaimed, host: { isForeign: true } }, 'claim image'],
    ['while the host is being deleted', { image: unclaimed, host: { isDeleting: true } }, 'claim image'],
    ['but not while the host is paused', { image: unclaimed, host: { isPaused: true } }, 'wait: paused'],
    ['nor while it is being deleted itself', { image: { ...unclaimed, isDeleting: true } }, 'wait: at rest'],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });
});

describe('the drive and the power', () => {
  const attached = { memory: attachedA };
  it.each<Row>([
    ['an image of a host that is on waits for a reboot', { image: {} }, 'wait: reboot needed'],
    ['once the host is off, the drive is read', { image: {}, node: off }, 'look'],
    ['and the image attached, before the host is on', { image: {}, node: off, drive: empty }, 'attach'],
    ['also if the host stays off', { image: {}, node: off, drive: empty, host: { online: false } }, 'attach'],
    ['the attached ISO is checked once more before the host is on', { image: attached, node: off }, 'look'],
    ['and then it is switched on', { image: attached, node: off, drive: ours }, 'power: power on'],
    ['or if the BMC does not answer', { image: attached, node: off, driveProblem: 'no answer' }, 'power: power on'],
    [
      'the drive is not read while the host is kept off',
      { image: attached, node: off, host: { online: false } },
      'wait: kept off',
    ],
    [
      'a failed attach holds the host off',
      { image: { memory: drive({ failures: 1, notBefore: NOW + 1 }) }, node: off },
      'wait: drive backoff',
    ],
    [
      'unless the image allows to boot without it',
      { image: { memory: drive({ failures: 1, notBefore: NOW + 1 }), bootAnywayAfter: 1 }, node: off },
      'power: power on',
    ],
    [
      'but not after fewer failures than that',
      { image: { memory: drive({ failures: 1, notBefore: NOW + 1 }), bootAnywayAfter: 2 }, node: off },
      'wait: drive backoff',
    ],
    [
      'an unreadable drive holds the host off too',
      { image: {}, node: off, driveProblem: 'no answer' },
      'wait: drive unreadable',
    ],
    [
      'a host that must be off is powered off, whatever its drive does',
      { image: { immediate: true }, host: { online: false } },
      'power: soft power off',
    ],
    [
      'a BMC that cannot attach an ISO does not keep the host off',
      { image: {}, node: off, host: { bmc: { ok: true, driver: 'x', digest: 'now', nonBootableISOImage: false } } },
      'power: power on',
    ],
    [
      'neither does a URL that Ironic must not fetch from',
      { image: { refusal: 'it is a loopback address' }, node: off },
      'power: power on',
    ],
    ['an immediate image is attached to a host that is on', { image: { immediate: true }, drive: empty }, 'attach'],
    [
      'also to one that must not be powered off, though a reboot is requested',
      { image: { immediate: true }, drive: empty, host: { isPowerOffDisabled: true, reboots: [plain] } },
      'attach',
    ],
    [
      'any other waits until that one is switched off by hand',
      { image: {}, host: { isPowerOffDisabled: true, reboots: [plain] } },
      'wait: reboot needed',
    ],
    [
      'a deleted image of a host that is on waits for a reboot',
      { image: { ...attached, isDeleting: true } },
      'wait: reboot needed',
    ],
    [
      'and is ejected once the host is off',
      { image: { ...attached, isDeleting: true }, node: off, drive: ours },
      'detach',
    ],
    [
      'a deleted image that was never attached is released immediately',
      { image: { isDeleting: true } },
      'release image',
    ],
    [
      'and one that is already gone is not released twice',
      { image: { isDeleting: true, hasFinalizer: false } },
      'wait: at rest',
    ],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });
});

describe('a host that is out of our hands', () => {
  const image = { memory: attachedA, isDeleting: true };
  it.each<Row>([
    [
      'paused: nothing at all',
      { host: { isPaused: true, isDeleting: true }, image: { isDeleting: true } },
      'wait: paused',
    ],
    ['of another operator: only read', { host: { isForeign: true, online: false } }, 'wait: not ours'],
    ['of another operator, deleted: only read', { host: { isForeign: true, isDeleting: true } }, 'wait: not ours'],
    [
      'not externally provisioned: only read',
      { host: { externallyProvisioned: false, online: false } },
      'wait: not ours',
    ],
    ['detached: maintenance first', { host: { isDetached: true } }, 'set maintenance: true'],
    ['detached: then the node is deleted', { host: { isDetached: true }, node: { maintenance: true } }, 'delete node'],
    [
      'detached: and the host stays unchanged',
      { host: { isDetached: true, online: false }, node: null },
      'wait: detached',
    ],
    [
      'detached: its medium stays',
      { host: { isDetached: true }, node: { ...off, maintenance: true }, image: { memory: attachedA } },
      'delete node',
    ],
    [
      'detached: a deleted image waits for the node, which may still attach it',
      { host: { isDetached: true }, image, node: { reservation: 'x' } },
      'wait: busy',
    ],
    ['detached: then it is released', { host: { isDetached: true }, image, node: null }, 'release image'],
    [
      'attached again, whatever Ironic shows by now: maintenance ends',
      { host: { memory: sampleHostMemory({ doing: 'delete' }) } },
      'set maintenance: false',
    ],
    [
      'attached again, before the node was gone: maintenance ends',
      { node: { maintenance: true }, host: { memory: sampleHostMemory({ doing: 'delete' }) } },
      'set maintenance: false',
    ],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });
});

describe('a host that is deleted', () => {
  const host = { isDeleting: true, deletingSince: NOW - 1000 };
  const image = { memory: attachedA };
  it.each<Row>([
    ['has its node deleted', { host }, 'set maintenance: true'],
    ['in two steps', { host, node: { maintenance: true } }, 'delete node'],
    ['and then it is released', { host, node: null }, 'remove host finalizer'],
    [
      'if it is detached, too, and its node is gone',
      { host: { ...host, isDetached: true }, node: null },
      'remove host finalizer',
    ],
    [
      'unless the detached annotation delays that',
      { host: { ...host, isDetached: true, isDeletionDelayed: true }, node: null },
      'wait: detached',
    ],
    [
      'its node is deleted anyway',
      { host: { ...host, isDetached: true, isDeletionDelayed: true } },
      'set maintenance: true',
    ],
    ['as soon as it is not locked', { host, node: { reservation: 'x' } }, 'wait: busy'],
    ['once', { host: { ...host, hasFinalizer: false }, node: null }, 'wait: at rest'],
    [
      'even if its BMC is no longer usable',
      { host: { ...host, bmc: { ok: false, code: '', message: '' } } },
      'set maintenance: true',
    ],
    ['but not a node of another operator', { host, node: { sentDigest: null } }, 'remove host finalizer'],
    [
      'with our medium in its drive, has it ejected even while on: later is too late',
      { host, image, drive: ours },
      'detach',
    ],
    ['with a foreign medium in its drive, leaves it there', { host, image: {} }, 'set maintenance: true'],
    [
      'whose BMC does not answer, has some time to',
      { host, image, driveProblem: 'no answer' },
      'wait: drive unreadable',
    ],
    [
      'but only for a limited time',
      { host: { ...host, deletingSince: NOW - 5 * MINUTES }, image, driveProblem: 'no answer' },
      'set maintenance: true',
    ],
  ])('%s', (_, given, expected) => {
    expect(told(decideStep(given))).toBe(expected);
  });
});

describe('a DataImage without a host', () => {
  it('is released, whatever is in an unreachable drive', () => {
    expect(stepWithoutHost(anImage({ isDeleting: true, memory: attachedA }))).toEqual({ type: 'release image' });
  });

  it('waits for one', () => {
    expect(stepWithoutHost(anImage({ url: ISO_A }))).toMatchObject({ type: 'wait', ms: null });
  });
});
