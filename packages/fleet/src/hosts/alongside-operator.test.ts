import { describe, expect, it } from 'vitest';
import { type HostStep, DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { nextHostStep } from './next-host-step.ts';
import { attachedA, drive, empty, buildFacts, type FactsInput, NOW, off, ours } from './testing/facts.ts';

const told = (given: FactsInput): string => {
  const step: HostStep = nextHostStep(
    buildFacts({ ...given, node: given.node === null ? null : { sentDigest: null, ...given.node } }),
    {
      ...DEFAULT_STEP_OPTIONS,
      besideOperator: true,
    },
  );
  return step.type === 'wait' ? `wait: ${step.why}` : step.type;
};

const asks = { key: '', mode: 'soft', since: 0 } as const;
const holds = { key: 'slipway', mode: 'soft', since: NOW - DEFAULT_STEP_OPTIONS.settleMs } as const;
const holdsSinceNow = { ...holds, since: NOW - 1 };
const isOff = { poweredOn: false };
const failed = drive({ failures: 1, notBefore: NOW + 1 });

describe('alongside another operator', () => {
  it.each<[string, FactsInput, string]>([
    ['a host without an image is ignored', { host: { online: false } }, 'wait: at rest'],
    ['a host that is not provisioned is ignored', { image: {}, host: { state: 'available' } }, 'wait: not provisioned'],
    ['a host that Ironic does not know is not registered', { image: {}, node: null }, 'wait: no node'],
    ['an image of a host that is on waits for a reboot', { image: {} }, 'wait: reboot needed'],
    ['a host with a reboot request is held off', { image: {}, host: { reboots: [asks] } }, 'hold off'],
    ['a host that is off is held off', { image: {}, host: isOff, node: off }, 'hold off'],
    [
      'but not one that is rebooted without being off',
      { image: {}, host: { reboots: [asks], isPowerOffDisabled: true } },
      'wait: reboot needed',
    ],
    [
      'and if it is already held, it is released',
      { image: {}, host: { reboots: [asks, holds], isPowerOffDisabled: true } },
      'release hold',
    ],
    ['not if only Ironic reports that it is off', { image: {}, node: off }, 'wait: reboot needed'],
    ['nor if only that operator does', { image: {}, host: isOff }, 'wait: reboot needed'],
    [
      'nor if nothing changes',
      { image: { memory: attachedA }, host: { reboots: [asks] }, drive: ours },
      'wait: at rest',
    ],
    ['but the attached ISO is checked again', { image: { memory: attachedA }, host: { reboots: [asks] } }, 'look'],
    ['nor for an immediate image', { image: { immediate: true }, host: { reboots: [asks] }, drive: empty }, 'attach'],
    ['held, but still on: wait', { image: {}, host: { reboots: [asks, holds] } }, 'wait: busy'],
    [
      'held and off: the image is attached',
      { image: {}, host: { ...isOff, reboots: [holds] }, node: off, drive: empty },
      'attach',
    ],
    [
      'but not before that operator must have noticed the hold',
      { image: {}, host: { ...isOff, reboots: [holdsSinceNow] }, node: off, drive: empty },
      'wait: busy',
    ],
    [
      'a failed attach keeps it held',
      { image: { memory: failed }, host: { ...isOff, reboots: [holds] }, node: off },
      'wait: drive backoff',
    ],
    [
      'unless the image allows to boot without it',
      { image: { memory: failed, bootAnywayAfter: 1 }, host: { ...isOff, reboots: [holds] }, node: off },
      'release hold',
    ],
    [
      'and then it is not held again',
      { image: { memory: failed, bootAnywayAfter: 1 }, host: isOff, node: off },
      'wait: reboot needed',
    ],
    [
      'once attached, it is released',
      { image: { memory: attachedA }, host: { ...isOff, reboots: [holds] }, node: off, drive: ours },
      'release hold',
    ],
    ['if the reboot request is withdrawn, it is released', { image: {}, host: { reboots: [holds] } }, 'release hold'],
    ['if the image is gone, it is released', { host: { ...isOff, reboots: [holds] }, node: off }, 'release hold'],
    [
      'if the host is detached, it is released',
      { image: {}, host: { isDetached: true, reboots: [holds] } },
      'release hold',
    ],
    [
      'a deleted image of a detached host is released',
      { image: { memory: attachedA, isDeleting: true }, host: { isDetached: true } },
      'release image',
    ],
    [
      'but not while our attach may be in progress',
      { image: { memory: drive({ doing: 'attach', since: NOW - 1 }), isDeleting: true }, host: { isDetached: true } },
      'wait: detached',
    ],
    ['a paused host is not even released', { image: {}, host: { isPaused: true, reboots: [holds] } }, 'wait: paused'],
    [
      'a deleted image is ejected from a held host',
      { image: { memory: attachedA, isDeleting: true }, host: { ...isOff, reboots: [holds] }, node: off, drive: ours },
      'detach',
    ],
    ['a deleted host is the business of that operator', { host: { isDeleting: true } }, 'wait: at rest'],
  ])('%s', (_, given, expected) => {
    expect(told(given)).toBe(expected);
  });
});
