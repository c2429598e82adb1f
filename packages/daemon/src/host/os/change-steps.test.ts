import { describe, expect, it } from 'vitest';
import type { OSChange } from '../host.ts';
import { listImagesToPull, needsPackages, planOSSteps, type StepsRequest } from './change-steps.ts';
import type { RpmOstreeDeployment } from './rpm-ostree-status.ts';

const booted: RpmOstreeDeployment = {
  booted: true,
  staged: false,
  image: 'quay.example/os:1',
  digest: '',
  version: '',
  checksum: '',
  packages: [],
  removals: [],
};
const realtime: RpmOstreeDeployment = {
  ...booted,
  packages: ['kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra', 'usbguard', 'vim'],
  removals: ['kernel', 'kernel-core'],
};
const IMAGE = 'quay.example/os:2';
const RT = 'kernel-rt-core --install kernel-rt-modules --install kernel-rt-modules-extra';
const DEFAULT = 'kernel kernel-core kernel-modules kernel-modules-core kernel-modules-extra';
const RESET =
  'rpm-ostree override reset kernel kernel-core --uninstall kernel-rt-core --uninstall kernel-rt-modules --uninstall kernel-rt-modules-extra';

function steps(change: OSChange, request: Partial<StepsRequest> = {}): string[] {
  return planOSSteps({ booted, imageTool: 'rpm-ostree', isPulled: false, ...request, change }).map(
    ({ program, args }) => [program, ...args].join(' '),
  );
}

describe('the steps of a change', () => {
  it('are none for no change', () => {
    expect(steps({})).toEqual([]);
    expect(steps({ image: booted.image, kernelArguments: { removed: [], added: [] } })).toEqual([]);
  });

  it('to another image use podman’s store if it has the image, otherwise the registry', () => {
    expect(steps({ image: IMAGE })).toEqual([`rpm-ostree rebase --experimental ostree-unverified-registry:${IMAGE}`]);
    expect(steps({ image: IMAGE }, { isPulled: true })).toEqual([
      `rpm-ostree rebase --experimental ostree-unverified-image:containers-storage:${IMAGE}`,
    ]);
    expect(steps({ image: IMAGE }, { imageTool: 'bootc' })).toEqual([`bootc switch ${IMAGE}`]);
    expect(steps({ image: IMAGE }, { imageTool: 'bootc', isPulled: true })).toEqual([
      `bootc switch --transport containers-storage ${IMAGE}`,
    ]);
  });

  it('to another image use rpm-ostree if there are or will be packages', () => {
    const rebase = `rpm-ostree rebase --experimental ostree-unverified-registry:${IMAGE}`;
    const withPackages = { ...booted, packages: ['vim'] };
    expect(steps({ image: IMAGE }, { imageTool: 'bootc', booted: withPackages })).toEqual([rebase]);
    expect(steps({ image: IMAGE, extensions: { before: [], after: ['sysstat'] } }, { imageTool: 'bootc' })).toEqual([
      rebase,
      'rpm-ostree update --install sysstat',
    ]);
  });

  it('for kernel arguments are one call, so that one that is removed and added moves to the end', () => {
    expect(steps({ kernelArguments: { removed: ['a=1', 'b'], added: ['c', 'b'] } })).toEqual([
      'rpm-ostree kargs --delete-if-present=a=1 --delete-if-present=b --append=c --append=b',
    ]);
  });

  it('for extensions remove only packages of extensions', () => {
    const change = { extensions: { before: ['usbguard'], after: ['kerberos'] } };
    expect(steps(change, { booted: { ...booted, packages: ['usbguard', 'vim'] } })).toEqual([
      'rpm-ostree update --install krb5-workstation --install libkadm5 --uninstall usbguard',
    ]);
  });

  it('to another extensions image resolve the same packages again', () => {
    const extensions = { before: ['usbguard'], after: ['usbguard'] };
    const withPackages = { ...booted, packages: ['usbguard'] };
    const change = { extensions, extensionsImage: 'quay.example/extensions:2' };
    expect(steps(change, { booted: withPackages })).toEqual(['rpm-ostree update']);
    expect(steps({ ...change, image: IMAGE }, { booted: withPackages })).toEqual([
      `rpm-ostree rebase --experimental ostree-unverified-registry:${IMAGE}`,
    ]);
    expect(steps({ extensions: { before: [], after: [] }, extensionsImage: 'quay.example/extensions:2' })).toEqual([]);
  });

  it('to another kernel replace the image’s, and restore it', () => {
    expect(steps({ kernelType: { before: 'default', after: 'realtime' } })).toEqual([
      `rpm-ostree override remove ${DEFAULT} --install ${RT}`,
    ]);
    expect(steps({ kernelType: { before: 'realtime', after: 'default' } }, { booted: realtime })).toEqual([RESET]);
  });

  it('to another image restore the image’s kernel first, and then replace it again', () => {
    expect(steps({ image: IMAGE, kernelArguments: { removed: [], added: ['x'] } }, { booted: realtime })).toEqual([
      RESET,
      `rpm-ostree rebase --experimental ostree-unverified-registry:${IMAGE}`,
      'rpm-ostree kargs --append=x',
      `rpm-ostree override remove ${DEFAULT} --install ${RT}`,
    ]);
  });

  it.each<[boolean, string, RpmOstreeDeployment, OSChange]>([
    [false, 'arguments alone', realtime, { kernelArguments: { removed: [], added: ['x'] } }],
    [true, 'a new extension', booted, { extensions: { before: [], after: ['sysstat'] } }],
    [true, 'an extension less, while others stay', realtime, { extensions: { before: ['usbguard'], after: [] } }],
    [
      true,
      'the same extension from elsewhere',
      realtime,
      { extensions: { before: ['usbguard'], after: ['usbguard'] } },
    ],
    [true, 'another image under packages', realtime, { image: IMAGE }],
    [false, 'another image', booted, { image: IMAGE }],
  ])('need packages: %s for %s', (needs, _what, from, change) => {
    expect(needsPackages({ booted: from, change })).toBe(needs);
  });

  const extensionsImage = 'quay.example/extensions@sha256:1';
  it.each<[string, RpmOstreeDeployment, OSChange, string[]]>([
    ['another image', booted, { image: IMAGE }, [IMAGE]],
    ['another image with layered packages', realtime, { image: IMAGE, extensionsImage }, [IMAGE, extensionsImage]],
    ['a new extension', booted, { extensions: { before: [], after: ['sysstat'] }, extensionsImage }, [extensionsImage]],
    [
      'another kernel',
      booted,
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage },
      [extensionsImage],
    ],
    [
      'the same packages in another version',
      realtime,
      { extensions: { before: ['usbguard'], after: ['usbguard'] }, extensionsImage },
      [extensionsImage],
    ],
    ['a kernel that is not from an image', booted, { kernelType: { before: 'default', after: 'realtime' } }, []],
    ['removing the last package', booted, { extensions: { before: ['usbguard'], after: [] }, extensionsImage }, []],
    ['arguments only', realtime, { kernelArguments: { removed: [], added: ['x'] }, extensionsImage }, []],
    ['the current image', { ...booted, image: IMAGE }, { image: IMAGE }, []],
  ])('are preceded by downloads for %s', (_what, from, change, images) => {
    expect(listImagesToPull({ booted: from, change })).toEqual(images);
  });
});
