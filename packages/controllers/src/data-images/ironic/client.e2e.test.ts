import { createHash } from 'node:crypto';
import {
  attachIsIgnored,
  driveShows,
  isCut,
  isIronicMissing,
  isoOf,
  nodeIsLocked,
  powerStateLags,
} from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createIronic } from './client.ts';
import { nodeNameOf } from './ironic.ts';
import { startRealIronic } from './testing/real-ironic.ts';
import type { RealIronic } from './testing/real-ironic.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const accessOf = ({ running }: RealIronic) => ({ url: running.url, ca: running.ca, auth: running });
const missing = await isIronicMissing();

describe.skipIf(missing)('on a real Ironic, with TLS and a password,', () => {
  let real: RealIronic;
  beforeAll(async () => {
    real = await startRealIronic(['journey', 'password', 'troubled', 'lied-to']);
  });
  afterAll(() => real?.[Symbol.asyncDispose]());

  describe.concurrent('a host', () => {
    it('is registered, adopted, given an ISO, powered, relieved of it, and removed', async ({ expect }) => {
      expect(await real.ironic.node(nodeNameOf('metal', 'journey'))).toBeNull();
      await real.bmc.insert(real.system('journey'), real.isos.put('other.iso', isoOf('of somebody else')));
      const uuid = await real.adopted('journey');
      // Adopting empties the drive, also of a host that runs: whoever adopts looks again afterwards.
      expect(await real.bmc.held(real.system('journey'))).toBeNull();
      expect(await real.nodeWhen('journey')).toEqual({
        uuid,
        provisionState: 'active',
        targetProvisionState: null,
        powerState: 'power off',
        targetPowerState: null,
        reservation: null,
        lastError: null,
        maintenance: false,
        sentDigest: 'd1',
        hostUid: 'uid-of-journey',
      });
      expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });

      const iso = isoOf('for the journey');
      await real.ironic.attach(uuid, real.isos.put('journey.iso', iso));
      expect((await real.nodeWhen('journey')).lastError).toBeNull();
      const drive = await real.ironic.drive(uuid);
      expect(drive).toMatchObject({ inserted: true, image: expect.stringContaining(uuid) });
      expect(await real.bmc.held(real.system('journey'))).toEqual({ image: drive.image, sha256: sha256(iso) });

      await real.ironic.power(uuid, 'power on');
      await real.nodeWhen('journey', ({ powerState }) => powerState === 'power on');
      await real.ironic.power(uuid, 'soft power off', { withinMs: 20_000 });
      await real.nodeWhen('journey', ({ powerState }) => powerState === 'power off');
      await real.ironic.detach(uuid);
      await real.nodeWhen('journey');
      expect(await real.ironic.drive(uuid)).toEqual({ inserted: false, image: '' });
      expect(await real.bmc.held(real.system('journey'))).toBeNull();
      const done = (await real.bmc.history(real.system('journey'))).map(({ what, value }) =>
        what === 'power' ? value : what,
      );
      expect(done).toEqual(['insert', 'eject', 'insert', 'On', 'GracefulShutdown', 'eject']);

      const hasty = createIronic({ ...accessOf(real), conflictRetries: 0 });
      await expect(hasty.remove(uuid)).rejects.toMatchObject({
        code: 'SLW_IRONIC_CONFLICT',
        message: expect.stringContaining('maintenance'),
      });
      await hasty.close();
      await real.ironic.setMaintenance(uuid, true);
      expect(await real.nodeWhen('journey')).toMatchObject({ maintenance: true });
      await real.ironic.setMaintenance(uuid, false);
      await real.ironic.setMaintenance(uuid, true);
      await real.ironic.remove(uuid);
      await real.ironic.remove(uuid);
      expect(await real.ironic.node(uuid)).toBeNull();
    });

    it('whose password is wrong stays where it is and says why, until it is put right', async ({ expect }) => {
      const right = real.wanted('password', 'd2');
      const driverInfo = { ...right.driverInfo, redfish_password: 'wrong' };
      await real.ironic.register({ ...right, driverInfo, digest: 'd1' });
      const { uuid } = await real.nodeWhen('password');
      await real.ironic.provision(uuid, 'manage');
      const failed = await real.nodeWhen('password', ({ lastError }) => lastError !== null);
      expect(failed).toMatchObject({ provisionState: 'enroll', sentDigest: 'd1' });
      expect(failed.lastError).toContain('Incorrect username or password');
      await real.ironic.update(uuid, right);
      expect(await real.nodeWhen('password')).toMatchObject({ sentDigest: 'd2', hostUid: 'uid-of-password' });
      await real.ironic.provision(uuid, 'manage');
      expect(await real.nodeWhen('password', ({ provisionState }) => provisionState === 'manageable')).toMatchObject({
        lastError: null,
      });
    });

    it('tells of every trouble with an ISO, though Ironic said yes to it', async ({ expect }) => {
      const uuid = await real.adopted('troubled');
      const url = real.isos.put('troubled.iso', isoOf('for the troubled'));
      await expect(real.ironic.attach(uuid, 'ftp://real.isos.example/a.iso')).rejects.toMatchObject({
        code: 'SLW_IRONIC_REFUSED',
        isRefusal: true,
        message: expect.stringContaining('Unsupported or missing URL scheme: ftp'),
      });
      await real.ironic.attach(uuid, `${url}.not-there`);
      expect((await real.nodeWhen('troubled')).lastError).toContain('404');
      real.isos.fail('troubled.iso', 'hang');
      await real.ironic.attach(uuid, url);
      expect(await real.ironic.node(uuid)).toMatchObject({ reservation: expect.any(String) });
      const hasty = createIronic({
        url: real.running.url,
        ca: real.running.ca,
        auth: real.running,
        conflictRetries: 1,
      });
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
      const uuid = await real.adopted('lied-to');
      const lied = createIronic({ url: real.proxy.url, auth: real.running });
      const url = real.isos.put('lied-to.iso', isoOf('for the lied to'));

      let end = real.proxy.add(attachIsIgnored);
      await lied.attach(uuid, url);
      end();
      expect(await real.nodeWhen('lied-to')).toMatchObject({ lastError: null });
      expect(await lied.drive(uuid)).toMatchObject({ inserted: false });

      end = real.proxy.add(driveShows('http://elsewhere.example/other.iso'));
      expect(await lied.drive(uuid)).toEqual({ inserted: true, image: 'http://elsewhere.example/other.iso' });
      end();
      expect(await lied.drive(uuid)).toMatchObject({ inserted: false });

      end = real.proxy.add(powerStateLags('power on', 1));
      expect(await lied.node(uuid)).toMatchObject({ powerState: 'power on' });
      expect(await lied.node(uuid)).toMatchObject({ powerState: 'power off' });
      end();

      end = real.proxy.add(nodeIsLocked(2));
      await lied.attach(uuid, url);
      end();
      expect(await real.nodeWhen('lied-to')).toMatchObject({ lastError: null });
      expect(await lied.drive(uuid)).toMatchObject({ inserted: true });

      end = real.proxy.add(isCut(/^DELETE .*vmedia/, { after: true }));
      await expect(lied.detach(uuid)).rejects.toMatchObject({ code: 'SLW_IRONIC_CUT', isRefusal: false });
      end();
      await real.nodeWhen('lied-to');
      expect(await real.bmc.held(real.system('lied-to'))).toBeNull();
      await lied.close();
    });
  });
});
