import { hostEntry } from '@slipway/fleet/reports';
import { type HostSample, sampleHost } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { type DriveChangeRequest, formatNextSteps } from './change.ts';

const formatSteps = (asked: Partial<DriveChangeRequest>, host: HostSample | null): string =>
  formatNextSteps(
    { action: 'attach', namespace: 'metal', name: 'host-0', immediate: false, reboot: false, ...asked },
    host === null ? null : hostEntry(sampleHost(host)),
  );

const detach = { action: 'detach' } as const;
const pausedHost = { annotations: { 'baremetalhost.metal3.io/paused': '' } };
const detachedHost = { annotations: { 'baremetalhost.metal3.io/detached': '' } };

describe('what happens next', () => {
  it.each<[string, Partial<DriveChangeRequest>, HostSample | null, string]>([
    [
      'a running host is not rebooted',
      {},
      {},
      'does not reboot it for that. To reboot it now, run the same command with',
    ],
    ['nor for a detach', detach, {}, 'To reboot it now: kubectl annotate -n metal bmh host-0 reboot.metal3.io='],
    ['unless the user requests it', { reboot: true }, {}, 'during the requested reboot'],
    ['or another client does', {}, { annotations: { 'reboot.metal3.io': '' } }, 'during the requested reboot'],
    ['immediate needs no reboot', { immediate: true }, {}, 'The ISO is attached immediately, without a reboot.'],
    ['a host that is off', {}, { poweredOn: false }, 'now, because the host is off. Then the host is switched on.'],
    ['a host that stays off', {}, { poweredOn: false, online: false }, 'The host stays off (spec.online is false).'],
    ['a host that shuts down', {}, { online: false }, 'when the host is off, as spec.online requests.'],
    ['a paused host', { reboot: true }, pausedHost, 'To continue, remove its annotation'],
    ['a detached host', {}, detachedHost, 'To attach the ISO, remove its annotation'],
    ['a detach from a detached host', detach, detachedHost, 'the drive stays unchanged'],
    ['a host that is not installed', {}, { state: 'inspecting' }, 'It is now inspecting.'],
    ['an unmanaged host', {}, { state: '' }, 'It is now not registered.'],
    ['a deleted host', {}, { deletionTimestamp: '2026-11-16T12:00:00Z' }, 'so the ISO is not attached'],
    ['no host', detach, null, 'the DataImage is deleted immediately'],
  ])('%s', (_, asked, host, expected) => {
    expect(formatSteps(asked, host)).toContain(expected);
  });

  it('ends with the command that shows the progress', () => {
    expect(formatSteps({}, {})).toMatch(/ Follow it with: slipway dataimage status host-0 --namespace metal$/);
  });
});
