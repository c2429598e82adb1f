import { describe, expect, it } from 'vitest';
import { parseBootcStatus } from './bootc.ts';
import { parseImageReference, readCommandLine } from './deployment.ts';
import { parseRpmOstreeStatus } from './rpm-ostree-status.ts';

const digest = `sha256:${'a'.repeat(64)}`;

describe('rpm-ostree status', () => {
  it('returns the booted deployment and the staged one', () => {
    const text = JSON.stringify({
      deployments: [
        {
          staged: true,
          booted: false,
          version: '9.6.2',
          checksum: '4f1c',
          'base-version': '9.6.1',
          'container-image-reference': `ostree-unverified-image:containers-storage:quay.example/os@${digest}`,
          'requested-packages': ['usbguard'],
          'requested-base-removals': ['kernel'],
        },
        { booted: true, staged: false, 'container-image-reference': 'ostree-unverified-registry:quay.example/os:1' },
        { booted: false, staged: false, 'container-image-reference': 'ostree-unverified-registry:old' },
      ],
      transaction: null,
    });
    expect(parseRpmOstreeStatus(text)).toEqual({
      staged: {
        booted: false,
        staged: true,
        image: `quay.example/os@${digest}`,
        digest,
        version: '9.6.1',
        checksum: '4f1c',
        packages: ['usbguard'],
        removals: ['kernel'],
      },
      booted: {
        booted: true,
        staged: false,
        image: 'quay.example/os:1',
        digest: '',
        version: '',
        checksum: '',
        packages: [],
        removals: [],
      },
    });
  });

  it('finds the image of an old host, and allows none', () => {
    const status = (more: object) => parseRpmOstreeStatus(JSON.stringify({ deployments: [{ booted: true, ...more }] }));
    expect(status({ 'custom-origin': ['pivot://quay.example/os:1', 'Managed'] }).booted.image).toBe(
      'quay.example/os:1',
    );
    expect(status({ origin: 'fedora:fedora/x86_64/coreos/stable' }).booted.image).toBe('');
  });

  it('that cannot be parsed is reported without its contents', () => {
    expect(() => parseRpmOstreeStatus('{"deployments":[')).toThrow(/is not JSON/);
    expect(() => parseRpmOstreeStatus('{"deployments":[{"booted":false}]}')).toThrow(/lists no booted deployment/);
  });
});

describe('bootc status', () => {
  it('returns the images, and whether bootc can change them', () => {
    const image = {
      image: { image: `quay.example/os@${digest}`, transport: 'registry' },
      imageDigest: digest,
      version: '9.6',
    };
    const text = JSON.stringify({
      status: {
        booted: { image, incompatible: false, ostree: { deploySerial: 0 } },
        staged: { image: null, incompatible: true, ostree: { deploySerial: 0 } },
      },
    });
    expect(parseBootcStatus(text)).toEqual({
      booted: {
        image: { image: `quay.example/os@${digest}`, transport: 'registry', digest, version: '9.6' },
        incompatible: false,
        ostree: true,
      },
      staged: { image: null, incompatible: true, ostree: true },
    });
  });

  it('of a machine that was not booted from an image is empty', () => {
    expect(parseBootcStatus('{"status":{"booted":null,"staged":null,"type":null}}')).toEqual({
      booted: null,
      staged: null,
    });
    expect(() => parseBootcStatus('No such thing')).toThrow(/is not JSON/);
  });
});

describe('an image has the form of osImageURL', () => {
  it.each([
    ['ostree-unverified-registry:quay.example/os:1', 'quay.example/os:1'],
    ['ostree-unverified-image:registry:quay.example/os:1', 'quay.example/os:1'],
    ['ostree-unverified-image:docker://quay.example:5000/os@sha256:ab', 'quay.example:5000/os@sha256:ab'],
    ['ostree-unverified-image:containers-storage:quay.example/os:1', 'quay.example/os:1'],
    [
      'ostree-unverified-image:containers-storage:[overlay@/var/lib/containers/storage]quay.example/os:1',
      'quay.example/os:1',
    ],
    ['ostree-image-signed:docker://quay.example/os:1', 'quay.example/os:1'],
    ['ostree-remote-registry:fedora:quay.example/os:1', 'quay.example/os:1'],
    ['ostree-remote-image:fedora:docker://quay.example/os:1', 'quay.example/os:1'],
  ])('%s', (reference, image) => {
    expect(parseImageReference(reference)).toBe(image);
  });
});

describe('the command line of the kernel', () => {
  it('is split at spaces outside quotes, without the arguments of the boot loader and ostree', () => {
    expect(
      readCommandLine('BOOT_IMAGE=(hd0)/vmlinuz root=x  ostree=/ostree/boot.1/os/4f1c/0 dyndbg="file a +p" quiet\n'),
    ).toEqual(['root=x', 'dyndbg="file a +p"', 'quiet']);
  });
});
