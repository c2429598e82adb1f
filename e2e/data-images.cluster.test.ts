// The life of an ISO in the drive of a bare-metal host, and what may go wrong with it, on a real Ironic: through the API, and
// by our client of Ironic alone, for an Ironic takes seconds to start. Each host is another test's, and all run at once. The
// rest of the matrix: data-images.slow.test.ts.
import { createHash } from 'node:crypto';
import { DRIVE_MEMORY_ANNOTATION } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { createIronic } from '@slipway/controllers';
import type { RealIronic } from '@slipway/controllers/testing/real-ironic';
import { until } from '@slipway/testing/wait';
import {
  attachIsIgnored,
  driveShows,
  isCut,
  isIronicMissing,
  buildIso,
  nodeIsLocked,
  powerStateLags,
} from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type DataImageScene, startDataImageScene } from './data-images/scene.ts';

const missing = await isIronicMissing();
const hosts = ['journey', 'wrong-url', 'iso-down', 'password', 'deleted', 'locked'];
const nodes = ['node', 'troubled', 'lied-to'];
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const toAccess = ({ running }: RealIronic) => ({ url: running.url, ca: running.ca, auth: running });

describe.skipIf(missing)('with a real Ironic and a BMC that really fetches ISOs', { timeout: 110_000 }, () => {
  let scene: DataImageScene;
  beforeAll(async () => {
    scene = await startDataImageScene([...hosts, ...nodes]);
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
      await expect(scene.annotateImage(name, { [DRIVE_MEMORY_ANNOTATION]: null })).rejects.toThrow(
        'only the controllers write the annotation',
      );

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
      // Ironic fails twice, with a backoff in between.
      const tried = async () => expect((await scene.image(name))?.status?.error?.count).toBeGreaterThan(1);
      await until(tried, 'rollout');
      await scene.attachedWhen(name, {
        status: 'False',
        reason: 'AttachFailed',
        message: expect.stringMatching(/nowhere\.iso was not attached.*SLW_DATA_IMAGE_ATTACH_FAILED.*stays off/),
      });
      expect(await scene.power(name)).toBe('Off');
      expect(await scene.held(name)).toBeNull();
      await scene.changeUrl(name, right.url);
      await scene.attachedWhen(name, { status: 'True' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.held(name)).toBe(right.sha256);
      expect((await scene.image(name))?.status?.error).toBeUndefined();
      expect((await scene.doneTo(name)).filter((what) => what === 'On' || what === 'insert')).toEqual(['insert', 'On']);
    }, 200_000);

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
        errorMessage: expect.stringContaining('Incorrect username or password'),
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
        expect(
          scene.proxy.seen.filter(({ method, body }) => isAttachRequest(iso.url, method, body)).length,
        ).toBeGreaterThan(1),
      );
      expect(await scene.doneTo(name)).toEqual([]);
      unlock();
      await scene.attachedWhen(name, { status: 'True' });
      await scene.hostWhen(name, { poweredOn: true });
      expect(await scene.doneTo(name)).toEqual(['insert', 'On']);
    });
  });

  describe.concurrent('by the client of Ironic, with TLS and a password, a node', () => {
    it('is registered, adopted, given an ISO, powered, relieved of it, and removed', async ({ expect }) => {
      const { real } = scene;
      expect(await real.ironic.node('metal~node')).toBeNull();
      await real.bmc.insert(real.system('node'), real.isos.put('other.iso', buildIso('of somebody else')));
      const uuid = await real.adopted('node');
      // Adopting empties the drive, also of a host that runs: whoever adopts looks again afterwards.
      expect(await real.bmc.held(real.system('node'))).toBeNull();
      expect(await real.nodeWhen('node')).toEqual({
        uuid,
        provisionState: 'active',
        targetProvisionState: null,
        powerState: 'power off',
        targetPowerState: null,
        reservation: null,
        lastError: null,
        maintenance: false,
        sentDigest: 'd1',
        hostUid: 'uid-of-node',
      });
      expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });

      const iso = buildIso('for the node');
      await real.ironic.attach(uuid, real.isos.put('node.iso', iso));
      expect((await real.nodeWhen('node')).lastError).toBeNull();
      const drive = await real.ironic.drive(uuid);
      expect(drive).toMatchObject({ inserted: true, image: expect.stringContaining(uuid) });
      expect(await real.bmc.held(real.system('node'))).toEqual({ image: drive.image, sha256: sha256(iso) });

      await real.ironic.power(uuid, 'power on');
      await real.nodeWhen('node', ({ powerState }) => powerState === 'power on');
      await real.ironic.power(uuid, 'soft power off', { withinMs: 20_000 });
      await real.nodeWhen('node', ({ powerState }) => powerState === 'power off');
      await real.ironic.detach(uuid);
      await real.nodeWhen('node');
      expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });
      expect(await real.bmc.held(real.system('node'))).toBeNull();
      const done = (await real.bmc.history(real.system('node'))).map(({ what, value }) =>
        what === 'power' ? value : what,
      );
      expect(done).toEqual(['insert', 'eject', 'insert', 'On', 'GracefulShutdown', 'eject']);

      const hasty = createIronic({ ...toAccess(real), conflictRetries: 0 });
      await expect(hasty.remove(uuid)).rejects.toMatchObject({
        code: 'SLW_IRONIC_CONFLICT',
        message: expect.stringContaining('maintenance'),
      });
      await hasty.close();
      await real.ironic.setMaintenance(uuid, true);
      expect(await real.nodeWhen('node')).toMatchObject({ maintenance: true });
      await real.ironic.setMaintenance(uuid, false);
      await real.ironic.setMaintenance(uuid, true);
      await real.ironic.remove(uuid);
      await real.ironic.remove(uuid);
      expect(await real.ironic.node(uuid)).toBeNull();
    });

    it('tells of every trouble with an ISO, though Ironic said yes to it', async ({ expect }) => {
      const { real } = scene;
      const uuid = await real.adopted('troubled');
      const url = real.isos.put('troubled.iso', buildIso('for the troubled'));
      await expect(real.ironic.attach(uuid, 'ftp://isos.example/a.iso')).rejects.toMatchObject({
        code: 'SLW_IRONIC_REFUSED',
        isRefusal: true,
        message: expect.stringContaining('Unsupported or missing URL scheme: ftp'),
      });
      await real.ironic.attach(uuid, `${url}.not-there`);
      expect((await real.nodeWhen('troubled')).lastError).toContain('404');
      real.isos.fail('troubled.iso', 'hang');
      await real.ironic.attach(uuid, url);
      expect(await real.ironic.node(uuid)).toMatchObject({ reservation: expect.any(String) });
      const hasty = createIronic({ ...toAccess(real), conflictRetries: 1 });
      await expect(hasty.power(uuid, 'power on')).rejects.toMatchObject({
        code: 'SLW_IRONIC_CONFLICT',
        message: expect.stringContaining('locked'),
      });
      await hasty.close();
      real.isos.fail('troubled.iso', undefined);
      await real.nodeWhen('troubled');
      expect(await real.bmc.held(real.system('troubled'))).toBeNull();
      expect(await real.bmc.powerState(real.system('troubled'))).toBe('Off');
      await real.ironic.attach(uuid, url);
      expect(await real.nodeWhen('troubled')).toMatchObject({ lastError: null });
      expect(await real.ironic.drive(uuid)).toMatchObject({ inserted: true });
    });

    it('can be lied about by what stands between', async ({ expect }) => {
      const { real } = scene;
      const uuid = await real.adopted('lied-to');
      const lied = createIronic({ url: real.proxy.url, auth: real.running });
      const url = real.isos.put('lied-to.iso', buildIso('for the lied to'));

      let end = await scene.lie('lied-to', attachIsIgnored);
      await lied.attach(uuid, url);
      end();
      expect(await real.nodeWhen('lied-to')).toMatchObject({ lastError: null });
      expect(await lied.drive(uuid)).toMatchObject({ inserted: false });

      end = await scene.lie('lied-to', driveShows('http://elsewhere.example/other.iso'));
      expect(await lied.drive(uuid)).toEqual({ inserted: true, image: 'http://elsewhere.example/other.iso' });
      end();
      expect(await lied.drive(uuid)).toMatchObject({ inserted: false });

      end = await scene.lie('lied-to', powerStateLags('power on', 1));
      expect(await lied.node(uuid)).toMatchObject({ powerState: 'power on' });
      expect(await lied.node(uuid)).toMatchObject({ powerState: 'power off' });
      end();

      end = await scene.lie('lied-to', nodeIsLocked(2));
      await lied.attach(uuid, url);
      end();
      expect(await real.nodeWhen('lied-to')).toMatchObject({ lastError: null });
      expect(await lied.drive(uuid)).toMatchObject({ inserted: true });

      end = await scene.lie('lied-to', isCut(/^DELETE .*vmedia/, { after: true }));
      await expect(lied.detach(uuid)).rejects.toMatchObject({ code: 'SLW_IRONIC_CUT', isRefusal: false });
      end();
      await real.nodeWhen('lied-to');
      expect(await real.bmc.held(real.system('lied-to'))).toBeNull();
      await lied.close();
    });
  });
});

const isAttachRequest = (url: string, method: string, body: unknown): boolean =>
  method === 'POST' && isRecord(body) && body['image_url'] === url;
