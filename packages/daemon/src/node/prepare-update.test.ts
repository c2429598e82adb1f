import { silentLog } from '@slipway/kube';
import { createSimulatedHost, makeSimulatedMachine, simulatedLayers } from '@slipway/simulator';
import { describe, expect, it } from 'vitest';
import { ownOwners } from '../host/file-system.ts';
import type { Host, OperatingSystem } from '../host/host.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { prefetch } from './prepare-update.ts';

const OS = `registry.example.com/os@sha256:${'1'.repeat(64)}`;
const EXTENSIONS = `registry.example.com/extensions@sha256:${'2'.repeat(64)}`;
const bytes = (image: string): number => simulatedLayers(image).layers.reduce((sum, { size }) => sum + size, 0);

/** A simulated machine whose OS behaves as the test needs. */
async function machine(os: Partial<OperatingSystem> = {}, containers: Partial<Host['containers']> = {}) {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await makeSimulatedMachine(files);
  const host = createSimulatedHost({ root: '/', files });
  const [fetched, told]: [string[], string[]] = [[], []];
  const noting: OperatingSystem = {
    ...host.os,
    async prefetch(images) {
      fetched.push(...images);
    },
    ...os,
  };
  return {
    fetched,
    told,
    run: (images: readonly string[]) =>
      prefetch(images, {
        host: { ...host, os: noting, containers: { ...host.containers, ...containers } },
        log: silentLog(),
        signal: new AbortController().signal,
        async onProgress(text) {
          told.push(text);
        },
      }),
  };
}

describe('the download before a drain', () => {
  it('reports its progress, by images and bytes', async () => {
    const { run, fetched, told } = await machine();
    await run([OS, EXTENSIONS]);
    expect(fetched).toEqual([OS, EXTENSIONS]);
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/^0 of 2 images, 0 B of [\d.]+ MB$/);
    expect(told[1]).toMatch(/^1 of 2 images, [\d.]+ MB of [\d.]+ MB$/);
  });

  it('is refused if it does not fit, with both sizes, before anything is downloaded', async () => {
    const needed = 2 * (bytes(OS) + bytes(EXTENSIONS));
    const store = (free: number) => () =>
      Promise.resolve({ path: '/var/lib/containers', freeBytes: free, sizeBytes: 1e9 });
    const enough = await machine({ store: store(needed + 1e8) });
    await enough.run([OS, EXTENSIONS]);
    const short = await machine({ store: store(needed + 1e8 - 1) });
    await expect(short.run([OS, EXTENSIONS])).rejects.toMatchObject({
      code: 'SLW_DAEMON_SPACE',
      message: expect.stringMatching(
        /They take [\d.]+ MB in \/var\/lib\/containers.*Only [\d.]+ MB can be used.*not drained/,
      ),
    });
    expect(short.fetched).toEqual([]);
  });

  it('of present images costs nothing, and queries no registry', async () => {
    const { run, fetched, told } = await machine(
      { missing: () => Promise.resolve([]), store: () => Promise.reject(new Error('nobody needs it')) },
      {
        sizeOf: () => {
          throw new Error('nobody needs it');
        },
      },
    );
    await run([OS]);
    expect([fetched, told]).toEqual([[], []]);
  });

  it('is tried if the size is unknown', async () => {
    const { run, fetched, told } = await machine(
      {},
      {
        sizeOf: () => {
          throw new Error('no way to the registry');
        },
      },
    );
    await run([OS]);
    expect(fetched).toEqual([OS]);
    expect(told).toEqual(['0 of 1 images']);
  });
});
