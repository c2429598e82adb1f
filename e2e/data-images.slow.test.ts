// Bare-metal hosts and their DataImages: the rest of the matrix, and lying answers, on a real Ironic. The journey and the
// commonest faults are in data-images.e2e.test.ts.
import { dataImages } from '@slipway/api';
import { until } from '@slipway/testing/wait';
import { attachIsIgnored, driveShows, isCut, isIronicMissing, powerStateLags } from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Claims, collectClaims } from './data-images/claims.ts';
import { METAL, type DataImageScene, startDataImageScene } from './data-images/scene.ts';

const missing = await isIronicMissing();

describe.skipIf(missing)('with a real Ironic', { timeout: 240_000 }, () => {
  let scene: DataImageScene;
  let claims: Claims;
  beforeAll(async () => {
    scene = await startDataImageScene([
      'off',
      'detached',
      'one',
      'two',
      'ignored',
      'foreign',
      'another',
      'swapped',
      'lagging',
      'cut',
      'at-once',
      'anyway',
      'keyed',
      'forgotten',
      'owned',
      'paused',
      'never-off',
      'delayed',
      'bmc-down',
      'restarted',
    ]);
    claims = await collectClaims(scene);
    await scene.run();
  });
  afterAll(async () => {
    claims?.stop();
    await scene?.stop();
  });

  const running = async (name: string, url?: string): Promise<void> => {
    if (url !== undefined) await scene.attach(name, url);
    await scene.addHost(name);
    if (url !== undefined) await scene.attachedWhen(name, { status: 'True' });
    await scene.hostWhen(name, { poweredOn: true });
  };

  describe.concurrent('a host', () => {
    it('that is off loses its ISO at once when the DataImage is deleted, and stays off', async () => {
      const iso = scene.iso('off');
      await scene.attach('off', iso.url);
      await scene.addHost('off', { online: false });
      await scene.attachedWhen('off', { status: 'True' });
      expect(await scene.held('off')).toBe(iso.sha256);
      await scene.deleteImage('off');
      await until(async () => expect(await scene.image('off')).toBeUndefined());
      expect(await scene.held('off')).toBeNull();
      expect(await scene.doneTo('off')).toEqual(['insert', 'eject']);
    });

    it('that is detached leaves Ironic as it is, lets its DataImage go, and comes back', async () => {
      await running('detached', scene.iso('detached').url);
      await scene.annotate('detached', { 'baremetalhost.metal3.io/detached': '' });
      await scene.hostWhen('detached', { operationalStatus: 'detached' });
      await until(async () => expect(await scene.direct.node('metal~detached')).toBeNull());
      await scene.deleteImage('detached');
      await until(async () => expect(await scene.image('detached')).toBeUndefined());
      await scene.annotate('detached', { 'baremetalhost.metal3.io/detached': null });
      await scene.hostWhen('detached', { operationalStatus: 'OK', poweredOn: true });
      await until(async () =>
        expect(await scene.direct.node('metal~detached')).toMatchObject({ provisionState: 'active' }),
      );
      expect((await scene.doneTo('detached')).filter((what) => what === 'off')).toEqual([]);
    });

    it('gets its own ISO while another gets another', async () => {
      const isos = [scene.iso('one'), scene.iso('two')] as const;
      await Promise.all([running('one', isos[0].url), running('two', isos[1].url)]);
      expect(await scene.held('one')).toBe(isos[0].sha256);
      expect(await scene.held('two')).toBe(isos[1].sha256);
    });

    it('whose attach is said to be done and is not stays off, and says so', async () => {
      const iso = scene.iso('ignored');
      await scene.addHost('ignored', { online: false });
      await scene.hostWhen('ignored', { provisioning: { state: 'externally provisioned' } });
      const end = await scene.lie('ignored', attachIsIgnored);
      await scene.attach('ignored', iso.url);
      await scene.changeHost('ignored', { spec: { online: true } });
      await scene.attachedWhen('ignored', {
        status: 'False',
        reason: 'AttachFailed',
        message: expect.stringContaining('the drive is still empty'),
      });
      expect(await scene.doneTo('ignored')).toEqual([]);
      end();
      await scene.attachedWhen('ignored', { status: 'True' });
      expect(await scene.held('ignored')).toBe(iso.sha256);
    });

    it('with a medium of somebody else in its drive keeps that, and is not said to have ours', async () => {
      await scene.addHost('foreign', { online: false });
      await scene.hostWhen('foreign', { provisioning: { state: 'externally provisioned' } });
      const end = await scene.lie('foreign', driveShows('http://somebody.example/tool.iso'));
      await scene.attach('foreign', scene.iso('foreign').url);
      await scene.attachedWhen('foreign', {
        status: 'False',
        message: expect.stringContaining('SLW_DATA_IMAGE_FOREIGN_MEDIUM'),
      });
      expect(await scene.doneTo('foreign')).toEqual([]);
      end();
      await scene.attachedWhen('foreign', { status: 'True' });
    });

    it('whose drive is said to hold another image, from the first answer on, is not said to have ours until it is', async () => {
      const iso = scene.iso('another');
      await scene.addHost('another', { online: false });
      await scene.hostWhen('another', { provisioning: { state: 'externally provisioned' } });
      const end = await scene.lie('another', anotherOnceAttached('http://somebody.example/tool.iso'));
      await scene.attach('another', iso.url);
      await scene.changeHost('another', { spec: { online: true } });
      await scene.attachedWhen('another', {
        status: 'False',
        reason: 'AttachFailed',
        message: expect.stringMatching(
          /found http:\/\/somebody\.example\/tool\.iso.*SLW_DATA_IMAGE_FOREIGN_MEDIUM.*stays off/,
        ),
      });
      // It is looked at again, and nothing is done to what is there.
      await until(async () => expect((await scene.image('another'))?.status?.error?.count).toBeGreaterThan(2));
      expect(claims.of('another')).toEqual([]);
      expect(await scene.doneTo('another')).toEqual(['insert']);
      end();
      await scene.attachedWhen('another', { status: 'True' });
      await scene.hostWhen('another', { poweredOn: true });
      expect((await scene.image('another'))?.status).toMatchObject({ attachedImage: { url: iso.url } });
      expect(await scene.held('another')).toBe(iso.sha256);
      expect(await scene.doneTo('another')).toEqual(['insert', 'eject', 'insert', 'On']);
    });

    it('whose medium somebody changes is not said to have ours any more', async () => {
      await running('swapped', scene.iso('swapped').url);
      const end = await scene.lie('swapped', driveShows('http://somebody.example/tool.iso'));
      await scene.annotate('swapped', { 'reboot.metal3.io': '{"mode":"hard"}' });
      await scene.attachedWhen('swapped', {
        status: 'False',
        message: expect.stringContaining('SLW_DATA_IMAGE_FOREIGN_MEDIUM'),
      });
      end();
      await scene.attachedWhen('swapped', { status: 'True' });
      await scene.hostWhen('swapped', { poweredOn: true });
    });

    it('that is said to be off when it is on keeps its ISO until it is rebooted', async () => {
      const [first, second] = [scene.iso('lag-first'), scene.iso('lag-second')];
      await scene.attach('lagging', first.url);
      await scene.addHost('lagging', { online: false });
      await scene.attachedWhen('lagging', { status: 'True' });
      const end = await scene.lie('lagging', lagOncePoweredOn());
      await scene.changeHost('lagging', { spec: { online: true } });
      await until(async () => expect(await scene.power('lagging')).toBe('On'));
      await scene.changeUrl('lagging', second.url);
      await scene.attachedWhen('lagging', { status: 'False', reason: 'ChangeWaitsForReboot' });
      await scene.hostWhen('lagging', { poweredOn: true });
      expect(await scene.held('lagging')).toBe(first.sha256);
      expect(await scene.doneTo('lagging')).toEqual(['insert', 'On']);
      end();
    });

    it('gets its ISO though every answer is lost once', async () => {
      const iso = scene.iso('cut');
      await scene.addHost('cut', { online: false });
      await scene.hostWhen('cut', { provisioning: { state: 'externally provisioned' } });
      await scene.lie('cut', isCut(/^POST .*vmedia$/, { after: true, times: 1 }));
      await scene.lie('cut', isCut(/^PUT .*power$/, { after: true, times: 1 }));
      await scene.attach('cut', iso.url);
      await scene.changeHost('cut', { spec: { online: true } });
      await scene.attachedWhen('cut', { status: 'True' });
      await scene.hostWhen('cut', { poweredOn: true });
      expect(await scene.held('cut')).toBe(iso.sha256);
      expect((await scene.doneTo('cut')).filter((what) => what === 'On' || what === 'off')).toEqual(['On']);
    });

    it('gets and loses an immediate ISO while it runs', async () => {
      const iso = scene.iso('at-once');
      await running('at-once');
      await scene.attach('at-once', iso.url, true);
      await scene.attachedWhen('at-once', { status: 'True' });
      expect(await scene.held('at-once')).toBe(iso.sha256);
      await scene.deleteImage('at-once');
      await until(async () => expect(await scene.image('at-once')).toBeUndefined());
      expect(await scene.doneTo('at-once')).toEqual(['On', 'insert', 'eject']);
    });

    it('boots without its ISO where its owner allows that after some failures', async () => {
      await scene.attach('anyway', scene.iso('anyway').url.replace('anyway', 'nowhere'));
      await scene.annotateImage('anyway', { 'slipway.dev/data-image-boot-anyway-after': '2' });
      await scene.addHost('anyway');
      await scene.hostWhen('anyway', { poweredOn: true });
      expect(await scene.held('anyway')).toBeNull();
      expect((await scene.image('anyway'))?.status?.error?.count).toBeGreaterThan(1);
    });

    it('that Ironic has forgotten is adopted again, and what that has ejected is not said to be attached', async () => {
      await running('forgotten', scene.iso('forgotten').url);
      const before = await scene.direct.node('metal~forgotten');
      await scene.direct.setMaintenance(before?.uuid ?? '', true);
      await scene.direct.remove(before?.uuid ?? '');
      await scene.attachedWhen('forgotten', {
        status: 'False',
        reason: 'WaitsForReboot',
        message: expect.stringContaining('is no longer in the drive'),
      });
      expect(await scene.held('forgotten')).toBeNull();
      await scene.annotate('forgotten', { 'reboot.metal3.io': '' });
      await scene.attachedWhen('forgotten', { status: 'True' });
      await scene.hostWhen('forgotten', { poweredOn: true });
      const done = await scene.doneTo('forgotten');
      expect(done.filter((what) => what === 'off' || what === 'On')).toEqual(['On', 'off', 'On']);
    });

    it('of another operator is only read, until somebody hands it over', async () => {
      await scene.attach('owned', scene.iso('owned').url);
      await scene.addHost('owned', { finalizers: ['baremetalhost.metal3.io'] });
      await scene.attachedWhen('owned', {
        status: 'False',
        reason: 'HostNotReady',
        message: expect.stringContaining('--data-images-beside-operator'),
      });
      expect((await scene.host('owned'))?.status).toBeUndefined();
      expect(await scene.direct.node('metal~owned')).toBeNull();
      await scene.annotate('owned', { 'slipway.dev/host': '{}' });
      await scene.attachedWhen('owned', { status: 'True' });
      await scene.hostWhen('owned', { poweredOn: true });
    });

    it('that is paused is left alone until it is not', async () => {
      await scene.addHost('paused', { annotations: { 'baremetalhost.metal3.io/paused': '' } });
      await scene.attach('paused', scene.iso('paused').url);
      // A host that came later is looked after: this one has been seen.
      await scene.attachedWhen('owned', { status: expect.any(String) });
      await scene.attachedWhen('paused', { status: 'False', reason: 'HostNotReady' });
      expect(await scene.direct.node('metal~paused')).toBeNull();
      await scene.annotate('paused', { 'baremetalhost.metal3.io/paused': null });
      await scene.attachedWhen('paused', { status: 'True' });
      await scene.hostWhen('paused', { poweredOn: true });
    });

    it('that may not be switched off is not, and says so, and gets its ISO where that needs no power-off', async () => {
      const iso = scene.iso('never-off');
      await running('never-off');
      await scene.changeHost('never-off', { spec: { disablePowerOff: true } });
      await scene.attach('never-off', iso.url);
      await scene.annotate('never-off', { 'reboot.metal3.io': '{"mode":"hard"}' });
      await scene.hostWhen('never-off', {
        errorType: 'power management error',
        errorMessage: expect.stringContaining('spec.disablePowerOff is true'),
      });
      await scene.attachedWhen('never-off', {
        reason: 'WaitsForReboot',
        message: expect.stringContaining('spec.immediate'),
      });
      const immediate = { type: 'merge', body: { spec: { immediate: true } } } as const;
      await scene.client.patch(dataImages, { namespace: METAL, name: 'never-off' }, immediate, {});
      await scene.attachedWhen('never-off', { status: 'True' });
      await scene.annotate('never-off', { 'reboot.metal3.io': null });
      await scene.hostWhen('never-off', { operationalStatus: 'OK', errorMessage: '', poweredOn: true });
      expect(await scene.held('never-off')).toBe(iso.sha256);
      expect(await scene.doneTo('never-off')).toEqual(['On', 'insert']);
    });

    it('that is detached with a delayed deletion goes once the annotation is gone, not sooner', async () => {
      await running('delayed');
      await scene.annotate('delayed', { 'baremetalhost.metal3.io/detached': '{"deleteAction":"delay"}' });
      await scene.deleteHost('delayed');
      await until(async () => expect(await scene.direct.node('metal~delayed')).toBeNull());
      await scene.hostWhen('delayed', { operationalStatus: 'detached', provisioning: { state: 'deleting', ID: '' } });
      await scene.annotate('delayed', { 'baremetalhost.metal3.io/detached': null });
      await until(async () => expect(await scene.host('delayed')).toBeUndefined());
    });

    it('stays off while somebody’s reboot annotation with a key is there', async () => {
      await running('keyed');
      await scene.annotate('keyed', { 'reboot.metal3.io/fence': '' });
      await scene.hostWhen('keyed', { poweredOn: false });
      const iso = scene.iso('keyed');
      await scene.attach('keyed', iso.url);
      await scene.attachedWhen('keyed', { status: 'True' });
      expect(await scene.power('keyed')).toBe('Off');
      await scene.annotate('keyed', { 'reboot.metal3.io/fence': null });
      await scene.hostWhen('keyed', { poweredOn: true });
      expect(await scene.doneTo('keyed')).toEqual(['On', 'off', 'insert', 'On']);
    });
  });

  it('a BMC that is down is waited for, and nothing is said that is not so', async () => {
    const iso = scene.iso('bmc-down');
    await scene.addHost('bmc-down', { online: false });
    await scene.hostWhen('bmc-down', { provisioning: { state: 'externally provisioned' } });
    await scene.bmc.kill();
    await scene.attach('bmc-down', iso.url);
    await scene.changeHost('bmc-down', { spec: { online: true } });
    await scene.attachedWhen('bmc-down', { status: 'False' });
    await scene.bmc.start();
    const back = performance.now();
    await scene.attachedWhen('bmc-down', { status: 'True' });
    await scene.hostWhen('bmc-down', { poweredOn: true });
    console.log(`attached and on ${secondsSince(back)} s after its BMC is back; goal: 60 s`);
    expect(await scene.held('bmc-down')).toBe(iso.sha256);
  });

  it('an Ironic that is killed in the middle of an attach, and comes back, ends with the ISO in the drive', async () => {
    const iso = scene.iso('restarted');
    await scene.addHost('restarted', { online: false });
    await scene.hostWhen('restarted', { provisioning: { state: 'externally provisioned' } });
    scene.isos.fail('restarted.iso', 'hang');
    await scene.attach('restarted', iso.url);
    await scene.changeHost('restarted', { spec: { online: true } });
    await until(() => expect(scene.isos.seen).toContain('GET /restarted.iso'));
    await scene.ironic.kill();
    scene.isos.fail('restarted.iso', undefined);
    await scene.ironic.start();
    const back = performance.now();
    await scene.attachedWhen('restarted', { status: 'True' });
    await scene.hostWhen('restarted', { poweredOn: true });
    console.log(`attached and on ${secondsSince(back)} s after Ironic is back; goal: 60 s`);
    expect(await scene.held('restarted')).toBe(iso.sha256);
    expect((await scene.doneTo('restarted')).filter((what) => what === 'On')).toEqual(['On']);
  });

  it('no DataImage has ever said that an ISO was attached while the drive was empty', async () => {
    expect(claims.count()).toBeGreaterThan(10);
    expect(await claims.falseOnes()).toEqual([]);
  });
});

/** Whatever is in the drive, this is said to be in it, once an attach was asked for. */
function anotherOnceAttached(image: string): Parameters<DataImageScene['lie']>[1] {
  const lie = driveShows(image);
  let isAsked = false;
  return (asked) => {
    isAsked ||= asked.method === 'POST' && asked.path.endsWith('/vmedia');
    return isAsked ? lie(asked) : undefined;
  };
}

/** The power state lags behind for a few answers, once the host has been told to switch on. */
function lagOncePoweredOn(): Parameters<DataImageScene['lie']>[1] {
  let lags: Parameters<DataImageScene['lie']>[1] | undefined;
  return (asked) => {
    if (asked.method === 'PUT' && asked.path.endsWith('/states/power')) lags ??= powerStateLags('power off', 5);
    return lags?.(asked);
  };
}

const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(1);
