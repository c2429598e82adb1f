// The client with real CRI-O, and a registry behind a proxy that can be blocked.
import { until } from '@slipway/testing/wait';
import { type RunningCrio, startCrio } from '@slipway/tools/crio';
import { type Door, openDoor, pushImage, type RunningRegistry, startRegistry } from '@slipway/tools/registry';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Crio } from './cri-o.ts';
import { openCrio } from './testing/open-crio.ts';

const { parts } = inject('crio');
const { signal } = new AbortController();
const MEGABYTE = 2 ** 20;

const buildLayer = (bytes: number) => ({ files: [{ path: 'data', randomBytes: bytes }] });
const catchError = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

describe.skipIf(parts === undefined)('CRI-O', () => {
  let registry: RunningRegistry;
  let plain: RunningRegistry;
  let door: Door;
  let machine: RunningCrio;
  let crio: Crio;
  let image: string;
  let sizeBehindDoor = 8 * MEGABYTE;
  const credential = () => ({ username: registry.username, password: registry.password });
  const listed = async () =>
    (await crio.images(signal)).map(({ digests, isPinned }) => ({ image: digests[0], isPinned }));
  const names = async () => (await crio.images(signal)).flatMap(({ digests }) => digests);
  /** Through the proxy. */
  const pushBehindDoor = async (name: string) => {
    // With a different size each: a layer's random data depends on its size, and CRI-O caches what it pulled.
    sizeBehindDoor += 1;
    const pushed = await pushImage(plain, name, { layers: [buildLayer(sizeBehindDoor)] });
    return pushed.replace(plain.host, door.host);
  };

  beforeAll(async () => {
    if (parts === undefined) return;
    [registry, plain] = await Promise.all([startRegistry(), startRegistry({ tls: false, auth: 'none' })]);
    door = await openDoor(plain.port);
    image = await pushImage(registry, 'team/app', { layers: [buildLayer(1000)] });
    machine = await startCrio({ ...parts, name: 'client', registries: [registry, { ...plain, host: door.host }] });
    crio = openCrio(machine);
  });
  afterAll(async () => {
    await crio?.close();
    await machine?.stop();
    await door?.close();
    await Promise.all([registry?.stop(), plain?.stop()]);
  });

  it('reports its version, and the space for its images', async () => {
    expect(await crio.describe(signal)).toBe('cri-o 1.34.0');
    const store = await crio.store(signal);
    expect(store.path).toBe('/var/lib/containers/storage/overlay-images');
    expect(store.freeBytes).toBeGreaterThan(MEGABYTE);
    expect(store.sizeBytes).toBeGreaterThan(store.freeBytes);
  });

  it('pulls by digest with the credentials of the registry, and lists its images', async () => {
    await crio.pull(image, credential(), signal);
    const found = (await crio.images(signal)).find(({ digests }) => digests.includes(image));
    expect(found).toMatchObject({ digests: [image], tags: [], isPinned: false });
    expect(found?.id).toMatch(/^[0-9a-f]{64}$/);
    expect(found?.size).toBeGreaterThan(1000);
    // A repeated pull costs nothing and succeeds.
    await crio.pull(image, credential(), signal);
  });

  it('pulls nothing with a wrong password or none, and explains where the right one belongs', async () => {
    const other = await pushImage(registry, 'team/secret', { layers: [buildLayer(1000)] });
    for (const wrong of [{ username: registry.username, password: 'mistaken-42' }, null]) {
      const error = await catchError(crio.pull(other, wrong, signal));
      expect(error).toMatchObject({
        code: 'SLW_PINNING_PULL',
        message: expect.stringMatching(/team\/secret@sha256.*could not be pulled.*machine’s pull secret/),
      });
      expect(String(error)).not.toContain('mistaken-42');
    }
    expect(await names()).not.toContain(other);
  });

  it('names a digest that the registry does not have', async () => {
    const wrong = `${registry.host}/team/app@sha256:${'0'.repeat(64)}`;
    expect(await catchError(crio.pull(wrong, credential(), signal))).toMatchObject({
      code: 'SLW_PINNING_PULL',
      message: expect.stringMatching(/sha256:0{64} could not be pulled.*manifest unknown.*Check the set/),
    });
  });

  it('reports a registry that cannot be reached', async () => {
    const nowhere = `127.0.0.1:1/team/app@sha256:${'0'.repeat(64)}`;
    expect(await catchError(crio.pull(nowhere, null, signal))).toMatchObject({
      code: 'SLW_PINNING_PULL',
      message: expect.stringMatching(/connection refused.*can reach the registry/),
    });
  });

  it('pins the configured images, reports them, and unpins them', async () => {
    expect(await listed()).toContainEqual({ image, isPinned: false });
    await crio.pin([image], signal);
    expect(await listed()).toContainEqual({ image, isPinned: true });
    expect(await crio.isSetToPin([image])).toBe(true);
    await crio.pin([], signal);
    await expect.poll(listed).toContainEqual({ image, isPinned: false });
    expect(await crio.isSetToPin([])).toBe(true);
  });

  it('cancels a pull, closes the connection, and pulls the same image later', async () => {
    const late = await pushBehindDoor('late');
    door.shutAfter(MEGABYTE);
    const controller = new AbortController();
    const pulled = catchError(crio.pull(late, null, controller.signal));
    await expect.poll(() => door.waiting()).toBe(1);
    const why = new Error('a turn that is over');
    controller.abort(why);
    expect(await pulled).toBe(why);
    await expect.poll(() => door.waiting()).toBe(0);
    door.shutAfter(null);
    expect(await names()).not.toContain(late);
    await crio.pull(late, null, signal);
    expect(await names()).toContain(late);
  });

  it('answers other calls while a pull is stuck', async () => {
    const stuck = await pushBehindDoor('stuck');
    door.shutAfter(MEGABYTE);
    const pulled = crio.pull(stuck, null, signal);
    await expect.poll(() => door.waiting()).toBe(1);
    expect(await names()).not.toContain(stuck);
    await crio.pull(image, credential(), signal);
    door.shutAfter(null);
    await pulled;
    expect(await names()).toContain(stuck);
  });

  it('is reconnected after it was killed during a pull, with the images that it had', async () => {
    const cut = await pushBehindDoor('cut');
    door.shutAfter(MEGABYTE);
    const pulled = catchError(crio.pull(cut, null, signal));
    await expect.poll(() => door.waiting()).toBe(1);
    await machine.kill();
    expect(await pulled).toMatchObject({
      code: 'SLW_PINNING_RUNTIME',
      message: expect.stringContaining(`The container runtime at ${machine.socket} did not respond`),
    });
    for (const call of [crio.images(signal), crio.store(signal), crio.pull(cut, null, signal)]) {
      expect(await catchError(call)).toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
    }
    door.shutAfter(null);
    await machine.start();
    await until(async () => expect(await names()).toContain(image));
    expect(await names()).not.toContain(cut);
    await crio.pull(cut, null, signal);
    expect(await names()).toContain(cut);
  });

  it('reports a full disk, and still pulls what fits', async () => {
    if (parts === undefined) return;
    const storeBytes = 16 * MEGABYTE;
    const small = await startCrio({ ...parts, name: 'full', registries: [registry], storeBytes });
    const full = openCrio(small);
    try {
      expect(await full.store(signal)).toMatchObject({ sizeBytes: storeBytes });
      const large = await pushImage(registry, 'team/large', { layers: [buildLayer(2 * storeBytes)] });
      expect(await catchError(full.pull(large, credential(), signal))).toMatchObject({
        code: 'SLW_PINNING_NO_SPACE',
        message: expect.stringMatching(/The disk ran full while .*team\/large@.*no space left on device/),
      });
      await full.pull(image, credential(), signal);
      expect((await full.images(signal)).flatMap(({ digests }) => digests)).toEqual([image]);
    } finally {
      await full.close();
      await small.stop();
    }
  });
});
