// On a real Ironic, one host through all of its life.
import { until } from '@slipway/testing/wait';
import { isIronicMissing } from '@slipway/tools/ironic';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectClaims } from './data-images/claims.ts';
import { runKilledControllers } from './data-images/killed-controllers.ts';
import { type DataImageScene, startDataImageScene } from './data-images/scene.ts';

const missing = await isIronicMissing();

describe.skipIf(missing)(
  'controllers that are killed before and after every call to Ironic',
  { timeout: 400_000 },
  () => {
    let scene: DataImageScene;
    beforeAll(async () => {
      scene = await startDataImageScene(['killed']);
    });
    afterAll(() => scene?.stop());

    it('leave no medium behind, attach none twice, reboot nobody unasked, and come to the end', async () => {
      const name = 'killed';
      const claims = await collectClaims(scene);
      const killed = await runKilledControllers(scene);
      const [first, second] = [scene.iso('killed-first'), scene.iso('killed-second')];
      const timeoutMs = 120_000;

      await scene.attach(name, first.url);
      await scene.addHost(name);
      await scene.hostWhen(name, { poweredOn: true }, timeoutMs);
      await scene.attachedWhen(name, { status: 'True' }, timeoutMs);
      expect(await scene.held(name)).toBe(first.sha256);

      killed.nextChapter();
      await scene.changeUrl(name, second.url);
      await scene.annotate(name, { 'reboot.metal3.io': '' });
      await scene.attachedWhen(name, { status: 'True', message: expect.stringContaining(second.url) }, timeoutMs);
      await until(async () => expect(await scene.power(name)).toBe('On'), timeoutMs);
      await scene.hostWhen(name, { poweredOn: true }, timeoutMs);
      expect(await scene.held(name)).toBe(second.sha256);

      killed.nextChapter();
      await scene.deleteImage(name);
      await scene.annotate(name, { 'reboot.metal3.io': '{"mode":"hard"}' });
      await until(async () => expect(await scene.image(name)).toBeUndefined(), timeoutMs);
      await until(async () => expect(await scene.power(name)).toBe('On'), timeoutMs);
      await scene.hostWhen(name, { poweredOn: true }, timeoutMs);
      expect(await scene.held(name)).toBeNull();

      killed.nextChapter();
      await scene.deleteHost(name);
      await until(async () => expect(await scene.host(name)).toBeUndefined(), timeoutMs);
      expect(await scene.direct.node('metal~killed')).toBeNull();
      await killed.stop();
      claims.stop();

      const done = await scene.doneTo(name);
      expect(done.filter((what) => what === 'off' || what === 'On')).toEqual(['On', 'off', 'On', 'off', 'On']);
      expect(done.filter((what, at) => what === 'insert' && done[at - 1] === 'insert')).toEqual([]);
      expect(await claims.falseOnes()).toEqual([]);
      expect(killed.kills).toEqual(
        expect.arrayContaining([
          'before register',
          'after attach',
          'before detach',
          'after power power on',
          'after remove',
        ]),
      );
      expect(killed.kills.length).toBeGreaterThan(20);
    });
  },
);
