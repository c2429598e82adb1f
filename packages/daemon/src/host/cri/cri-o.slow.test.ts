// The guard has until the reserve is used, a tenth of the disk. A layer of zeros fills that of 1 GB in 0.2 s, in which a
// loaded machine may not check once; that of 4 GB leaves it the time that real disks do.
import { systemClock } from '@slipway/base/clock';
import { silentLog } from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { startCrio } from '@slipway/tools/crio';
import { pushImage, type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createSpaceGuard } from '../../pinning/space-guard.ts';
import type { Problem } from '../../problem.ts';
import { openCrio } from './testing/open-crio.ts';

const { parts } = inject('crio');
const { signal } = new AbortController();
const MEGABYTE = 2 ** 20;

describe.skipIf(parts === undefined)('CRI-O on a small disk', () => {
  let registry: RunningRegistry;
  let image: string;
  const credential = () => ({ username: registry.username, password: registry.password });

  beforeAll(async () => {
    if (parts === undefined) return;
    registry = await startRegistry();
    image = await pushImage(registry, 'team/app', { layers: [{ files: [{ path: 'data', randomBytes: 1000 }] }] });
  });
  afterAll(() => registry?.stop());

  it('unpacks a layer to its end although its pull is cancelled, and the guard of the space stops that in time', async () => {
    if (parts === undefined) return;
    const storeBytes = 4096 * MEGABYTE;
    const bomb = await pushImage(registry, 'team/bomb', {
      layers: [{ files: [{ path: 'zeros', zeroBytes: 1.25 * storeBytes }] }],
    });
    const small = await startCrio({ ...parts, name: 'bomb', registries: [registry], storeBytes });
    const runtime = openCrio(small);
    try {
      await runtime.pull(image, credential(), signal);
      const store = await runtime.store(signal);
      const abort = new AbortController();
      const seen: number[] = [];
      const problems: Problem[] = [];
      let restarts = 0;
      const guard = createSpaceGuard({
        containers: {
          async measure(of) {
            const now = await runtime.measure(of);
            seen.push(now.freeBytes);
            return now;
          },
          async abandonPulls() {
            restarts += 1;
            await runtime.abandonPulls();
          },
        },
        images: { present: () => new Set(), store: () => store, measure: async () => store },
        // The registry reports its compressed size.
        sizes: new Map([[bomb, { layers: [{ digest: 'sha256:bomb', size: 2 * MEGABYTE }] }]]),
        clock: systemClock,
        log: silentLog(),
        onLowSpace(problem) {
          problems.push(problem);
          abort.abort(new Error('no space'));
        },
      });
      await expect(
        guard.pull(bomb, abort.signal, () => runtime.pull(bomb, credential(), abort.signal)),
      ).rejects.toThrow('no space');
      expect(problems).toMatchObject([{ code: 'SLW_PINNING_NO_SPACE' }]);
      // What was unpacked is given back, and the store still works.
      await until(async () =>
        expect((await runtime.measure(store)).freeBytes).toBeGreaterThan(store.freeBytes - 8 * MEGABYTE),
      );
      guard.stop();
      expect(restarts).toBe(1);
      expect(Math.min(...seen)).toBeGreaterThan(0);
      await until(async () =>
        expect((await runtime.images(signal)).flatMap(({ digests }) => digests)).toEqual([image]),
      );
      expect(small.log()).not.toContain('no space left on device');
    } finally {
      await runtime.close();
      await small.stop();
    }
  });
});
