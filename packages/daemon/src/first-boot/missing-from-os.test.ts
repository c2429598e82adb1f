import { describe, expect, it } from 'vitest';
import type { Deployment } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';
import { missingFromOS } from './missing-from-os.ts';

const digest = `sha256:${'ab'.repeat(32)}`;
const booted: Deployment = {
  image: `quay.example/os@${digest}`,
  digest,
  version: '9.6',
  kernelArguments: ['root=UUID=1', 'console=ttyS0'],
  packages: ['usbguard'],
};
const missing = (spec: StoredConfig['spec']) => missingFromOS(booted, { name: 'rendered-worker-a', spec });

describe('after Ignition, a machine lacks of its config', () => {
  it.each<[string, StoredConfig['spec'], ReturnType<typeof missing>]>([
    ['nothing, where it was installed with all of it', { osImageURL: booted.image, extensions: ['usbguard'] }, null],
    ['nothing, where the same image came from a mirror', { osImageURL: `mirror.example/os@${digest}` }, null],
    ['nothing, where the config says nothing of the OS', {}, null],
    ['another OS image', { osImageURL: 'quay.example/os:new' }, { image: 'quay.example/os:new' }],
    [
      'kernel arguments that are not there yet, several in one entry too',
      { kernelArguments: ['console=ttyS0 nosmt', 'hugepages=8'] },
      {
        kernelArguments: {
          removed: [],
          added: ['nosmt', 'hugepages=8'],
          all: { before: [], after: ['console=ttyS0', 'nosmt', 'hugepages=8'] },
        },
      },
    ],
    [
      'a kernel argument that is wanted twice and there once',
      { kernelArguments: ['console=ttyS0', 'console=ttyS0'] },
      {
        kernelArguments: {
          removed: [],
          added: ['console=ttyS0'],
          all: { before: [], after: ['console=ttyS0', 'console=ttyS0'] },
        },
      },
    ],
    [
      'extensions',
      { extensions: ['usbguard', 'sysstat'], baseOSExtensionsContainerImage: 'quay.example/ext:1' },
      { extensions: { before: [], after: ['usbguard', 'sysstat'] }, extensionsImage: 'quay.example/ext:1' },
    ],
    [
      'another kernel',
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'quay.example/ext:1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'quay.example/ext:1' },
    ],
  ])('%s', (_, spec, expected) => {
    expect(missing(spec)).toEqual(expected);
  });
});
