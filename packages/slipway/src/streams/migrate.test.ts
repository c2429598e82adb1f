import { planSample, poolOnStream, rhel10, sampleStreams } from '@slipway/fleet/testing';
import type { InspectedImage } from '@slipway/registry';
import { describe, expect, it } from 'vitest';
import { type Download, inspectDownload, migrateText } from './migrate.ts';

const plan = await planSample(
  {
    pools: [poolOnStream('worker', { tracked: 'rhel-9' })],
    nodes: [{ name: 'worker-0' }, { name: 'worker-1' }],
    streams: sampleStreams(),
  },
  { pools: [{ metadata: { name: 'worker' }, spec: { osImageStream: { name: 'rhel-10' } } }] },
);
const known: Download = {
  osImage: rhel10.osImage,
  osBytes: 1_200_000_000,
  osExtensionsImage: rhel10.osExtensionsImage,
  extensionsBytes: 300_000_000,
  bytesPerMachine: 1_500_000_000,
  problem: null,
};
const text = (download: Download) =>
  migrateText(
    { pool: 'worker', from: 'rhel-9', to: 'rhel-10', dryRun: true, changed: false, plan, download, watch: ['look'] },
    { verbose: false },
  );

describe('the text of slipway streams migrate', () => {
  it('has the plan, what machines download, and what to watch', () => {
    expect(text(known)).toMatch(/^Pool worker: stream rhel-9 → rhel-10\n\nObjects\n/);
    expect(text(known)).toContain('2 machines drained or rebooted\n');
    expect(text(known).split('\n\n').at(-2)).toBe(
      `Download: at most 1.5 GB for each of 2 machines, less if some layers are already present
  OS image registry.example.com/os@sha256:aaaaaaaaaaaa…: 1.2 GB
  OS extensions image registry.example.com/extensions@sha256:aaaaaaaaaaaa…: 300.0 MB`,
    );
    expect(text(known)).toMatch(/\n\nWatch\n {2}look\n$/);
  });

  it('explains why the download size is unknown', () => {
    const unknown = {
      ...known,
      osBytes: null,
      extensionsBytes: null,
      bytesPerMachine: null,
      problem: 'no way [SLW_REGISTRY_NOT_FOUND]',
    };
    expect(text(unknown)).toContain('Download: unknown for each of 2 machines: no way [SLW_REGISTRY_NOT_FOUND]');
  });
});

const platform = { os: 'linux', architecture: 'amd64' };
const sizes = new Map([
  [rhel10.osImage, 1000],
  [rhel10.osExtensionsImage, 20],
]);
const registry = {
  inspect: async (reference: string): Promise<InspectedImage> => ({
    reference,
    digest: '',
    platform,
    labels: {},
    layers: [],
    size: sizes.get(reference) ?? 0,
  }),
};
const failing = (error: Error) => ({
  inspect: async (): Promise<InspectedImage> => {
    throw error;
  },
});

describe('what a machine fetches for another OS', () => {
  it('is the OS image, and the extensions image if the pool has extensions', async () => {
    expect(await inspectDownload(rhel10, true, registry)).toMatchObject({ osBytes: 1000, bytesPerMachine: 1020 });
    expect(await inspectDownload(rhel10, false, registry)).toMatchObject({
      osExtensionsImage: null,
      extensionsBytes: null,
      bytesPerMachine: 1000,
    });
  });

  it('is unknown if the registry fails, with the reason', async () => {
    const refused = Object.assign(new Error('no access'), { code: 'SLW_REGISTRY_UNAUTHORIZED' });
    expect(await inspectDownload(rhel10, true, failing(refused))).toMatchObject({
      osImage: rhel10.osImage,
      bytesPerMachine: null,
      problem: 'no access [SLW_REGISTRY_UNAUTHORIZED]',
    });
    await expect(inspectDownload(rhel10, true, failing(new TypeError('a bug')))).rejects.toThrow('a bug');
  });
});
