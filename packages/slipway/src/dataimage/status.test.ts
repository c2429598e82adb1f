import { driveReport } from '@slipway/fleet/reports';
import { sampleHost, sampleImage, URL } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { driveText } from './status.ts';

describe('DataImages for people', () => {
  it('what is attached needs no words', () => {
    const text = driveText(driveReport([sampleImage({ reason: 'Attached', attached: URL })], [sampleHost()]));
    expect(text).toMatch(/^metal +host-0 +attached +on +http:\/\/10\.0\.0\.5\/site-config\.iso +http:/m);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });

  it('what waits says for what, and who has to do it', () => {
    const message = `${URL} is attached when the host is next powered off. Nobody reboots it for that`;
    const text = driveText(driveReport([sampleImage({ reason: 'WaitsForReboot', message })], [sampleHost()]));
    expect(text).toMatch(/host-0 +waits for a reboot +on +- /);
    expect(text).toContain(`\nmetal/host-0: ${message}\n`);
  });

  it('an ISO that comes out is told from one that stays', () => {
    const deleting = { deletionTimestamp: '2026-11-16T12:00:00Z' };
    const image = sampleImage({
      reason: 'DetachWaitsForReboot',
      attached: URL,
      metadata: deleting,
      message: 'still in',
    });
    const text = driveText(driveReport([image], [sampleHost()]));
    expect(text).toContain('waits for a reboot, to be detached');
    expect(text).toContain('metal/host-0: still in\n');
  });

  it('says what is in the way: no controller, no host, a pause, an error', () => {
    const alone = driveText(driveReport([sampleImage()], []));
    expect(alone).toContain('no such host');
    expect(alone).toContain('slipway controller --ironic-url does');
    const host = sampleHost({
      annotations: { 'baremetalhost.metal3.io/paused': '' },
      errorMessage: 'no \u001b[31mBMC',
    });
    const paused = driveText(driveReport([sampleImage({ reason: 'Attached', attached: URL })], [host]));
    expect(paused).toContain('the host is paused');
    expect(paused).toContain('the host has an error: no \\u{1b}[31mBMC');
  });
});
