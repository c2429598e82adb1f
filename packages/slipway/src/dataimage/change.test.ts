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
    ['a host that is on is not rebooted', {}, {}, 'Nobody reboots it for that: the same command with --reboot does.'],
    ['nor is it for a detach', detach, {}, 'kubectl annotate -n metal bmh host-0 reboot.metal3.io= does.'],
    ['unless that was asked for', { reboot: true }, {}, 'in the reboot that was asked for'],
    ['by whomever', {}, { annotations: { 'reboot.metal3.io': '' } }, 'in the reboot that was asked for'],
    ['at once needs none', { immediate: true }, {}, 'It is attached at once; the host is not touched.'],
    ['a host that is off', {}, { poweredOn: false }, 'now, for the host is off; it is switched on after that.'],
    ['one that stays off', {}, { poweredOn: false, online: false }, 'it stays off, as spec.online says.'],
    ['one that goes off', {}, { online: false }, 'when the host is off, which spec.online asks for.'],
    ['a paused host', { reboot: true }, pausedHost, 'nothing happens until its annotation'],
    ['a detached host', {}, detachedHost, 'nothing is attached until its annotation'],
    ['a detached host lets go', detach, detachedHost, 'the drive stays as it is'],
    ['a host that is not installed', {}, { state: 'inspecting' }, 'now it is inspecting.'],
    ['a host that nobody manages', {}, { state: '' }, 'now it is not registered.'],
    ['a host that goes', {}, { deletionTimestamp: '2026-11-16T12:00:00Z' }, 'nothing is attached to it any more'],
    ['no host', detach, null, 'the DataImage goes at once'],
  ])('%s', (_, asked, host, said) => {
    expect(formatSteps(asked, host)).toContain(said);
  });

  it('ends with the command that shows it', () => {
    expect(formatSteps({}, {})).toMatch(/ slipway dataimage status host-0 --namespace metal shows it\.$/);
  });
});
