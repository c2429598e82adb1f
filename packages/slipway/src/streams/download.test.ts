import { rhel10 } from '@slipway/fleet/testing';
import type { InspectedImage } from '@slipway/registry';
import { describe, expect, it } from 'vitest';
import { downloadOf } from './download.ts';

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
  it('is the OS image, and that of extensions where the pool has some', async () => {
    expect(await downloadOf(rhel10, true, registry)).toMatchObject({ osBytes: 1000, bytesPerMachine: 1020 });
    expect(await downloadOf(rhel10, false, registry)).toMatchObject({
      osExtensionsImage: null,
      extensionsBytes: null,
      bytesPerMachine: 1000,
    });
  });

  it('is not known where the registry cannot be asked, and it says why', async () => {
    const refused = Object.assign(new Error('no access'), { code: 'SLW_REGISTRY_UNAUTHORIZED' });
    expect(await downloadOf(rhel10, true, failing(refused))).toMatchObject({
      osImage: rhel10.osImage,
      bytesPerMachine: null,
      problem: 'no access [SLW_REGISTRY_UNAUTHORIZED]',
    });
    await expect(downloadOf(rhel10, true, failing(new TypeError('a bug')))).rejects.toThrow('a bug');
  });
});
