import { driveReport } from '@slipway/fleet/reports';
import { sampleHost, sampleImage, URL } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { driveText } from './status.ts';

describe('the text of slipway dataimage status', () => {
  it('has no note for an attached ISO', () => {
    const text = driveText(driveReport([sampleImage({ reason: 'Attached', attached: URL })], [sampleHost()]));
    expect(text).toMatch(/^metal +host-0 +attached +on +http:\/\/10\.0\.0\.5\/site-config\.iso +http:/m);
    expect(text.trimEnd().split('\n')).toHaveLength(2);
  });

  it('shows what a DataImage waits for', () => {
    const message = `${URL} is attached when the host is next powered off. Nobody reboots it for that`;
    const text = driveText(driveReport([sampleImage({ reason: 'WaitsForReboot', message })], [sampleHost()]));
    expect(text).toMatch(/host-0 +waits for a reboot +on +- /);
    expect(text).toContain(`\nmetal/host-0: ${message}\n`);
  });

  it('marks an ISO that is being detached', () => {
    const deleting = { deletionTimestamp: '2026-11-16T12:00:00Z' };
    const image = sampleImage({
      reason: 'DetachWaitsForReboot',
      attached: URL,
      metadata: deleting,
      message: 'still in',
    });
    const text = driveText(driveReport([image], [sampleHost()]));
    expect(text).toContain('waits for a reboot, detaching');
    expect(text).toContain('metal/host-0: still in\n');
  });

  it('shows what blocks it: no controller, no host, a pause, an error', () => {
    const alone = driveText(driveReport([sampleImage()], []));
    expect(alone).toContain('no such host');
    expect(alone).toContain('Run slipway controller with --ironic-url');
    const host = sampleHost({
      annotations: { 'baremetalhost.metal3.io/paused': '' },
      errorMessage: 'no \u001b[31mBMC',
    });
    const paused = driveText(driveReport([sampleImage({ reason: 'Attached', attached: URL })], [host]));
    expect(paused).toContain('the host is paused');
    expect(paused).toContain('the host has an error: no \\u{1b}[31mBMC');
  });
});
