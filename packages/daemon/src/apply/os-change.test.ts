import { planUpdate, rollbackOf } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import type { StoredConfig } from '../stored-config.ts';
import { markOf, osChangeOf } from './os-change.ts';

type Spec = StoredConfig['spec'];

async function both(from: Spec, to: Spec) {
  const { changes } = await planUpdate({ current: { name: 'a', spec: from }, desired: { name: 'b', spec: to } });
  return { there: osChangeOf(changes, from, to), back: osChangeOf(rollbackOf({ changes }), to, from) };
}

describe('what an update asks of the OS, and what its rollback asks', () => {
  it.each<[string, Spec, Spec, object | null, object | null]>([
    ['the same config: nothing', { osImageURL: 'os@1' }, { osImageURL: 'os@1' }, null, null],
    ['another image', { osImageURL: 'os@1' }, { osImageURL: 'os@2' }, { image: 'os@2' }, { image: 'os@1' }],
    ['no image any more: the machine keeps the one it has', { osImageURL: 'os@1' }, {}, null, { image: 'os@1' }],
    [
      'kernel arguments, back in their order',
      { kernelArguments: ['a', 'b', 'c'] },
      { kernelArguments: ['a', 'd'] },
      {
        kernelArguments: {
          removed: ['b', 'c'],
          added: ['d'],
          all: { before: ['a', 'b', 'c'], after: ['a', 'd'] },
        },
      },
      {
        kernelArguments: {
          removed: ['d'],
          added: ['b', 'c'],
          all: { before: ['a', 'd'], after: ['a', 'b', 'c'] },
        },
      },
    ],
    [
      'extensions: all that are wanted in the end, and where they come from',
      { extensions: ['usbguard'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['usbguard', 'ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: { before: ['usbguard'], after: ['usbguard', 'ipsec'] }, extensionsImage: 'ext@1' },
      { extensions: { before: ['usbguard', 'ipsec'], after: ['usbguard'] }, extensionsImage: 'ext@1' },
    ],
    [
      'another kernel comes from the extensions image, and goes with it',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'ext@1' },
      { kernelType: { before: 'realtime', after: 'default' }, extensionsImage: 'ext@1' },
    ],
    [
      'another extensions image: nothing where nothing comes from it',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { baseOSExtensionsContainerImage: 'ext@2' },
      null,
      null,
    ],
    [
      'another extensions image, and packages from it',
      { extensions: ['ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['ipsec'], baseOSExtensionsContainerImage: 'ext@2' },
      { extensions: { before: ['ipsec'], after: ['ipsec'] }, extensionsImage: 'ext@2' },
      { extensions: { before: ['ipsec'], after: ['ipsec'] }, extensionsImage: 'ext@1' },
    ],
  ])('%s', async (_, from, to, there, back) => {
    expect(await both(from, to)).toEqual({ there, back });
  });
});

it('the same packages from another extensions image make another deployment of the OS', () => {
  const deployment = { image: 'os@1', digest: '', version: '9.6', kernelArguments: [], packages: ['libreswan'] };
  expect(markOf({ ...deployment, checksum: 'one' })).not.toBe(markOf({ ...deployment, checksum: 'two' }));
});
