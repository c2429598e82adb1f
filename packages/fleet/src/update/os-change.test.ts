import { describe, expect, it } from 'vitest';
import { computeOSChange } from './os-change.ts';
import { computeRollback, planUpdate } from './plan-update.ts';
import type { Spec } from './settings.ts';

async function both(from: Spec, to: Spec) {
  const { changes } = await planUpdate({ current: { name: 'a', spec: from }, desired: { name: 'b', spec: to } });
  return { there: computeOSChange(changes, from, to), back: computeOSChange(computeRollback({ changes }), to, from) };
}

describe('the OS change of an update, and of its rollback', () => {
  it.each<[string, Spec, Spec, object | null, object | null]>([
    ['the same config: nothing', { osImageURL: 'os@1' }, { osImageURL: 'os@1' }, null, null],
    ['another image', { osImageURL: 'os@1' }, { osImageURL: 'os@2' }, { image: 'os@2' }, { image: 'os@1' }],
    ['no image: the machine keeps its current one', { osImageURL: 'os@1' }, {}, null, { image: 'os@1' }],
    [
      'kernel arguments, restored in order',
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
      'extensions: the complete list, and their source',
      { extensions: ['usbguard'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['usbguard', 'ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: { before: ['usbguard'], after: ['usbguard', 'ipsec'] }, extensionsImage: 'ext@1' },
      { extensions: { before: ['usbguard', 'ipsec'], after: ['usbguard'] }, extensionsImage: 'ext@1' },
    ],
    [
      'another kernel from the extensions image, and its removal',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'ext@1' },
      { kernelType: { before: 'realtime', after: 'default' }, extensionsImage: 'ext@1' },
    ],
    [
      'another extensions image: nothing if no packages come from it',
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
