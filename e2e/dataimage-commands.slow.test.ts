// `slipway dataimage … --wait` on a real Ironic: the BMC confirms the reported state. dataimage-commands.e2e.test.ts has the
// other tests.
import { runSlipway } from '@slipway/testing/slipway-process';
import { isIronicMissing } from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METAL, type DataImageScene, startDataImageScene } from './data-images/scene.ts';

const missing = await isIronicMissing();
const HOST = 'commanded';

describe.skipIf(missing)('slipway dataimage with a real Ironic', { timeout: 240_000 }, () => {
  let scene: DataImageScene;
  const dataimage = (...args: string[]) =>
    runSlipway('dataimage', ...args, '--namespace', METAL, '--kubeconfig', scene.kubeconfig);

  beforeAll(async () => {
    scene = await startDataImageScene([HOST]);
    await scene.run();
    await scene.addHost(HOST);
    await scene.hostWhen(HOST, { poweredOn: true, provisioning: { state: 'externally provisioned' } });
  });
  afterAll(() => scene?.stop());

  it('attach --reboot --wait ends when the ISO is attached and the host is on again, after one reboot', async () => {
    const iso = scene.iso('commanded');
    const before = await scene.doneTo(HOST);
    const ended = await dataimage('attach', HOST, iso.url, '--reboot', '--wait', '--timeout', '120');
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining(`is attached to ${METAL}/${HOST}.`) });
    expect(await scene.held(HOST)).toBe(iso.sha256);
    expect(await scene.power(HOST)).toBe('On');
    expect((await scene.doneTo(HOST)).slice(before.length)).toEqual(['off', 'insert', 'On']);

    expect(await dataimage('attach', HOST, iso.url, '--reboot', '--wait')).toMatchObject({
      code: 0,
      out: expect.stringContaining('The ISO is attached.'),
    });
    expect((await scene.host(HOST))?.metadata.annotations).not.toHaveProperty(['reboot.metal3.io']);
  });

  it('status shows it', async () => {
    const { out } = await dataimage('status', HOST);
    expect(out).toMatch(/commanded +attached +on +http/);
  });

  it('detach --reboot --wait ends when the drive is empty and the host is on again', async () => {
    const before = await scene.doneTo(HOST);
    const ended = await dataimage('detach', HOST, '--reboot', '--wait', '--timeout', '120');
    expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('is deleted, and its ISO is detached') });
    expect(await scene.held(HOST)).toBeNull();
    expect(await scene.power(HOST)).toBe('On');
    expect((await scene.doneTo(HOST)).slice(before.length)).toEqual(['off', 'eject', 'On']);
  });
});
