// The life of an ISO in the drive of a bare-metal host, and what may go wrong with it, on a real Ironic. Each host is another
// test's, and all run at once. The rest of the matrix: data-images.slow.test.ts.
import { isIronicMissing, nodeIsLocked } from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Scene, startScene, until } from './data-images/scene.ts';

const missing = await isIronicMissing();
const hosts = ['journey', 'wrong-url', 'iso-down', 'password', 'deleted', 'locked'];

describe.skipIf(missing)('with a real Ironic and a BMC that really fetches ISOs', { timeout: 110_000 }, () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(hosts);
    await scene.run();
  });
  afterAll(() => scene?.stop());

  describe.concurrent('a host', () => {
    it('is registered, gets an ISO at its power-on, another at its reboot, loses it, and goes', async ({ expect }) => {
      const name = 'journey';
      const [first, second] = [scene.iso('first'), scene.iso('second')];
      await scene.addHost(name, { online: false });
      await scene.hostWhen(name, {
        operationalStatus: 'OK',
        poweredOn: false,
        errorMessage: '',
        provisioning: { state: 'externally provisioned' },
        goodCredentials: { credentials: { name: 'journey-bmc' } },
      });

      await scene.attach(name, first.url);
      await scene.changeHost(name, { spec: { online: true } });
      await scene.attachedWhen(name, { status: 'True', reason: 'Attached' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(first.sha256);
      expect((await scene.image(name))?.status).toMatchObject({ attachedImage: { url: first.url } });
      expect((await scene.image(name))?.metadata).toMatchObject({
        finalizers: ['dataimage.metal3.io'],
        ownerReferences: [{ kind: 'BareMetalHost', name }],
      });
      expect(await scene.doneTo(name)).toEqual(['insert', 'On']);

      await scene.changeUrl(name, second.url);
      await scene.attachedWhen(name, { status: 'False', reason: 'ChangeWaitsForReboot' });
      expect(await scene.held(name)).toBe(first.sha256);
      await scene.annotate(name, { 'reboot.metal3.io': '' });
      await scene.attachedWhen(name, { status: 'True', reason: 'Attached' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(second.sha256);
      expect((await scene.host(name))?.metadata.annotations).not.toHaveProperty('reboot.metal3.io');
      expect(await scene.doneTo(name)).toEqual(['insert', 'On', 'off', 'eject', 'insert', 'On']);

      await scene.deleteImage(name);
      await scene.attachedWhen(name, { status: 'True', reason: 'DetachWaitsForReboot' });
      expect(await scene.held(name)).toBe(second.sha256);
      await scene.annotate(name, { 'reboot.metal3.io': '{"mode":"hard"}' });
      await until(async () => expect(await scene.image(name)).toBeUndefined());
      await until(async () => expect(await scene.power(name)).toBe('On'));
      expect(await scene.held(name)).toBeNull();
      expect((await scene.doneTo(name)).slice(6)).toEqual(['off', 'eject', 'On']);

      await scene.deleteHost(name);
      await until(async () => expect(await scene.host(name)).toBeUndefined());
      expect(await scene.direct.node('metal~journey')).toBeNull();
      expect(await scene.power(name)).toBe('On');
    });

    it('with a wrong URL is held off and says why, until the URL is right', async ({ expect }) => {
      const name = 'wrong-url';
      const right = scene.iso('right');
      await scene.addHost(name);
      await scene.attach(name, right.url.replace('right', 'nowhere'));
      await until(async () => expect((await scene.image(name))?.status?.error?.count).toBeGreaterThan(1));
      await scene.attachedWhen(name, {
        status: 'False',
        reason: 'AttachFailed',
        message: expect.stringMatching(/nowhere\.iso was not attached.*SLW_DATA_IMAGE_ATTACH_FAILED.*held off/),
      });
      expect(await scene.power(name)).toBe('Off');
      expect(await scene.held(name)).toBeNull();
      await scene.changeUrl(name, right.url);
      await scene.attachedWhen(name, { status: 'True' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(right.sha256);
      expect((await scene.image(name))?.status?.error).toBeUndefined();
      expect((await scene.doneTo(name)).filter((what) => what === 'On' || what === 'insert')).toEqual(['insert', 'On']);
    });

    it('whose ISO cannot be fetched waits, and boots with it once it can', async ({ expect }) => {
      const name = 'iso-down';
      const iso = scene.iso(name);
      scene.isos.fail(`${name}.iso`, 503);
      await scene.attach(name, iso.url);
      await scene.attachedWhen(name, { status: 'False', reason: 'NoHost' });
      await scene.addHost(name);
      await until(async () => expect((await scene.image(name))?.status?.error?.count).toBeGreaterThan(0));
      expect(await scene.power(name)).toBe('Off');
      scene.isos.fail(`${name}.iso`, undefined);
      await scene.attachedWhen(name, { status: 'True' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(iso.sha256);
    });

    it('with a wrong password of its BMC says so, and is registered once the Secret is right', async ({ expect }) => {
      const name = 'password';
      await scene.addHost(name, { password: 'wrong' });
      await scene.hostWhen(name, {
        operationalStatus: 'error',
        errorType: 'registration error',
        triedCredentials: { credentials: { name: 'password-bmc' } },
      });
      expect((await scene.host(name))?.status?.goodCredentials).toBeUndefined();
      await scene.setPassword(name, scene.bmc.credentials.password);
      await scene.hostWhen(name, { operationalStatus: 'OK', poweredOn: true, goodCredentials: expect.anything() });
    });

    it('that is deleted with an ISO in its drive leaves an empty drive, runs on, and lets its DataImage go', async ({
      expect,
    }) => {
      const name = 'deleted';
      const iso = scene.iso(name);
      await scene.attach(name, iso.url);
      await scene.addHost(name);
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(iso.sha256);
      await scene.deleteHost(name);
      await until(async () => expect(await scene.host(name)).toBeUndefined());
      expect(await scene.held(name)).toBeNull();
      expect(await scene.power(name)).toBe('On');
      // As garbage collection does, since its owner is gone: no controller manager runs here.
      await scene.deleteImage(name);
      await until(async () => expect(await scene.image(name)).toBeUndefined());
    });

    it('that somebody else works on in Ironic waits for its turn', async ({ expect }) => {
      const name = 'locked';
      const iso = scene.iso(name);
      await scene.addHost(name, { online: false });
      await scene.hostWhen(name, { provisioning: { state: 'externally provisioned' } });
      const unlock = await scene.lie(name, nodeIsLocked());
      await scene.attach(name, iso.url);
      await scene.changeHost(name, { spec: { online: true } });
      await until(() =>
        expect(scene.proxy.seen.filter(({ method, body }) => isAttachOf(iso.url, method, body)).length).toBeGreaterThan(
          1,
        ),
      );
      expect(await scene.doneTo(name)).toEqual([]);
      unlock();
      await scene.attachedWhen(name, { status: 'True' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.doneTo(name)).toEqual(['insert', 'On']);
    });
  });
});

const isAttachOf = (url: string, method: string, body: unknown): boolean =>
  method === 'POST' && typeof body === 'object' && body !== null && Reflect.get(body, 'image_url') === url;
