// On a real Ironic, where Metal3 is too: its operator, of which a stand-in does what it does to the power of a host, and its CRD.
import { until } from '@slipway/testing/wait';
import { isIronicMissing } from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectClaims } from './data-images/claims.ts';
import { installMetal3Crd } from './data-images/metal3-crd.ts';
import { METAL, type DataImageScene, startDataImageScene } from './data-images/scene.ts';
import { standInOperator } from './data-images/stand-in-operator.ts';

const missing = await isIronicMissing();

describe.skipIf(missing)('alongside an operator that powers the hosts', { timeout: 240_000 }, () => {
  let scene: DataImageScene;
  beforeAll(async () => {
    scene = await startDataImageScene(['beside']);
  });
  afterAll(() => scene?.stop());

  it('an ISO goes in and out at reboots that somebody asks for, with the host held off meanwhile', async () => {
    const name = 'beside';
    const iso = scene.iso(name);
    const claims = await collectClaims(scene);
    await scene.addHost(name);
    const other = standInOperator(scene, name);
    await scene.run({ besideOperator: true });
    await scene.hostWhen(name, { poweredOn: true });

    await scene.attach(name, iso.url);
    await scene.attachedWhen(name, { status: 'False', reason: 'WaitsForReboot' });
    expect(await scene.doneTo(name)).toEqual(['On']);
    await scene.annotate(name, { 'reboot.metal3.io': '' });
    await scene.attachedWhen(name, { status: 'True' });
    await until(async () => expect(await scene.power(name)).toBe('On'));
    expect(await scene.held(name)).toBe(iso.sha256);
    expect(await scene.doneTo(name)).toEqual(['On', 'off', 'insert', 'On']);

    await scene.deleteImage(name);
    await scene.attachedWhen(name, { reason: 'DetachWaitsForReboot' });
    await scene.annotate(name, { 'reboot.metal3.io': '' });
    await until(async () => expect(await scene.image(name)).toBeUndefined());
    await until(async () => expect(await scene.power(name)).toBe('On'));
    expect(await scene.held(name)).toBeNull();
    expect((await scene.doneTo(name)).slice(4)).toEqual(['off', 'eject', 'On']);
    expect(Object.keys((await scene.host(name))?.metadata.annotations ?? {})).toEqual([]);
    await other.stop();
    claims.stop();
    expect(await claims.falseOnes()).toEqual([]);
  });
});

describe.skipIf(missing)('with the DataImage CRD that Metal3 ships', { timeout: 240_000 }, () => {
  let scene: DataImageScene;
  beforeAll(async () => {
    scene = await startDataImageScene(['metal3-crd']);
    await installMetal3Crd(scene);
    await scene.run();
  });
  afterAll(() => scene?.stop());

  const countNodeRequests = () => scene.proxy.seen.filter(({ path }) => path.includes(`${METAL}~metal3-crd`)).length;
  const readVersion = async (name: string) => (await scene.image(name))?.metadata.resourceVersion;

  it('an ISO is attached, and a status that cannot be kept whole is not written at every look', async () => {
    const iso = scene.iso('metal3-crd');
    await scene.attach('no-host', iso.url);
    await until(async () =>
      expect(await scene.image('no-host')).toMatchObject({ status: { lastReconciled: expect.any(String) } }),
    );
    await scene.attach('metal3-crd', iso.url);
    await scene.addHost('metal3-crd');
    await scene.hostWhen('metal3-crd', { poweredOn: true });
    expect(await scene.held('metal3-crd')).toBe(iso.sha256);
    const { status } = (await scene.image('metal3-crd')) ?? {};
    expect(status).toMatchObject({ attachedImage: { url: iso.url } });
    expect(status).not.toHaveProperty('conditions');

    const versions = [await readVersion('metal3-crd'), await readVersion('no-host')];
    const before = countNodeRequests();
    await until(() => expect(countNodeRequests()).toBeGreaterThan(before + 5));
    expect([await readVersion('metal3-crd'), await readVersion('no-host')]).toEqual(versions);
  });
});
