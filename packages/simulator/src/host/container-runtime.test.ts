import { type FileSystem, makeDirectories, ownOwners, replaceFile } from '@slipway/daemon/host';
import { emptyImage } from '@slipway/daemon/testing/disk-image';
import { createMemoryDisk } from '@slipway/daemon/testing/memory-disk';
import { beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedRuntime, simulatedLayers, type SimulatedRuntime } from './container-runtime.ts';
import { setRuntimeBehaviour, writeImages } from './runtime-state.ts';
import { bootSimulatedMachine, makeSimulatedMachine } from './simulated-host.ts';

const { signal } = new AbortController();
const owners = ownOwners();
const buildImageName = (name: string, fill: string) => `quay.example/${name}@sha256:${fill.repeat(64)}`;
const [A, B, C] = [buildImageName('app', 'a'), buildImageName('app', 'b'), buildImageName('other', 'c')];

let files: FileSystem;
let containers: SimulatedRuntime;

beforeEach(async () => {
  files = createMemoryDisk(emptyImage(owners));
  await makeSimulatedMachine(files);
  containers = createSimulatedRuntime({ files, owners, reload: async () => {} });
});

async function configure(name: string, text: string): Promise<void> {
  await makeDirectories(files, '/etc/crio/crio.conf.d', owners);
  await replaceFile(files, `/etc/crio/crio.conf.d/${name}`, { ...owners, bytes: Buffer.from(text), mode: 0o644 });
}
const pins = (...images: string[]) => `[crio.image]\npinned_images = ${JSON.stringify(images)}\n`;
const names = async () => (await containers.images(signal)).flatMap(({ digests }) => digests);
const pinned = async () =>
  (await containers.images(signal)).filter(({ isPinned }) => isPinned).flatMap(({ digests }) => digests);

describe('a simulated container runtime', () => {
  it('has the images that were pulled, also concurrently, and after a boot', async () => {
    expect(await names()).toEqual([]);
    await Promise.all([C, A, B, A].map((image) => containers.pull(image, null, signal)));
    expect(await names()).toEqual([A, B, C]);
    await bootSimulatedMachine(files, 'power cut');
    expect(await names()).toEqual([A, B, C]);
  });

  it('pins what its configuration lists, from the next reload on', async () => {
    for (const image of [A, B, C]) await containers.pull(image, null, signal);
    await containers.images(signal);
    await configure('50-pinned-images', pins(A, 'quay.example/other@*'));
    expect(await pinned()).toEqual([]);
    await containers.reload(signal);
    expect(await pinned()).toEqual([A, C]);
    await files.remove('/etc/crio/crio.conf.d/50-pinned-images');
    expect(await pinned()).toEqual([A, C]);
    await containers.reload(signal);
    expect(await pinned()).toEqual([]);
  });

  it('keeps its pins if the configuration cannot be parsed, and uses the last file with pins', async () => {
    for (const image of [A, B]) await containers.pull(image, null, signal);
    await configure('50-pinned-images', pins(A));
    await containers.reload(signal);
    await configure('60-broken', 'pinned_images = [');
    await containers.reload(signal);
    expect(await pinned()).toEqual([A]);
    await configure('60-broken', pins(B));
    await configure('70-other', '[crio.runtime]\nlog_level = "info"\n');
    await containers.reload(signal);
    expect(await pinned()).toEqual([B]);
  });

  it('reads its configuration when the machine boots', async () => {
    await containers.pull(A, null, signal);
    await containers.images(signal);
    await configure('50-pinned-images', pins(A));
    expect(await pinned()).toEqual([]);
    await bootSimulatedMachine(files, 'power cut');
    expect(await pinned()).toEqual([A]);
  });

  it('takes as long as the bytes need, and ends immediately when it is cancelled', async () => {
    const bytes = (containers.sizeOf?.(A).layers ?? []).reduce((sum, { size }) => sum + size, 0);
    await setRuntimeBehaviour(files, { bytesPerSecond: bytes * 20 });
    const began = performance.now();
    await containers.pull(A, null, signal);
    expect(performance.now() - began).toBeGreaterThan(45);
    await setRuntimeBehaviour(files, { bytesPerSecond: 1 });
    const controller = new AbortController();
    const pulled = containers.pull(B, null, controller.signal).catch((error: unknown) => error);
    const why = new Error('enough');
    setImmediate(() => controller.abort(why));
    expect(await pulled).toBe(why);
    expect(await names()).toEqual([A]);
  });

  it('can run full', async () => {
    const own = simulatedLayers(C).layers.reduce((sum, { size }) => sum + size, 0);
    await setRuntimeBehaviour(files, { storeBytes: 3 * own });
    await containers.pull(C, null, signal);
    expect(await containers.store(signal)).toMatchObject({ sizeBytes: 3 * own, freeBytes: own });
    await writeImages(files, owners, [A, C]);
    await expect(containers.pull(B, null, signal)).rejects.toMatchObject({ code: 'SLW_PINNING_NO_SPACE' });
  });

  it('fails as configured', async () => {
    await setRuntimeBehaviour(files, { refused: { app: 'manifest unknown' } });
    await expect(containers.pull(A, null, signal)).rejects.toMatchObject({ code: 'SLW_PINNING_PULL' });
    await containers.pull(C, null, signal);
    await setRuntimeBehaviour(files, { isDown: true });
    for (const call of [containers.images(signal), containers.pull(C, null, signal), containers.reload(signal)]) {
      await expect(call).rejects.toMatchObject({ code: 'SLW_PINNING_RUNTIME' });
    }
    await setRuntimeBehaviour(files, {});
    expect(await names()).toEqual([C]);
  });

  it.each([
    ['a list', []],
    ['a number', 5],
    ['nothing', null],
    ['refusals that are a list', { refused: ['manifest unknown'] }],
    ['a disk of size zero', { storeBytes: 'large' }],
    ['a rate of zero', { bytesPerSecond: 0 }],
  ])('rejects a behaviour with %s', async (_, behaviour) => {
    const bytes = Buffer.from(JSON.stringify(behaviour));
    await replaceFile(files, '/var/lib/slipway-simulated/container-runtime.json', { ...owners, bytes, mode: 0o644 });
    await expect(containers.images(signal)).rejects.toMatchObject({ code: 'SLW_DAEMON_HOST' });
  });
});

describe('simulated images', () => {
  it('have the same layers everywhere, and share some within their repository', () => {
    const [a, b, c] = [A, B, C].map((image) => simulatedLayers(image).layers);
    expect(simulatedLayers(A).layers).toEqual(a);
    expect(a?.[0]).toEqual(b?.[0]);
    expect(a?.[1]).not.toEqual(b?.[1]);
    expect(a?.[0]).not.toEqual(c?.[0]);
  });
});
