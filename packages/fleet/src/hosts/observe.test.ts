import type { BareMetalHost, Secret } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import type { Stored } from '../kube-object.ts';
import type { KnownNode } from './host-step.ts';
import { encodeMemory, emptyHostMemory } from './memory.ts';
import { observeBmc, observeBmcAlongside, observeDataImage, observeHost, observeNode } from './observe.ts';
import { aNode, NOW } from './testing/facts.ts';

type Metadata = Partial<Stored<BareMetalHost>['metadata']>;

const bmc = { address: 'redfish-virtualmedia://bmc.example/redfish/v1/Systems/1', credentialsName: 'bmc' };
const host = (metadata: Metadata = {}, spec: Partial<BareMetalHost['spec']> = {}): Stored<BareMetalHost> => ({
  metadata: { namespace: 'metal', name: 'worker-0', uid: 'uid-1', resourceVersion: '7', ...metadata },
  spec: { online: true, externallyProvisioned: true, bmc, ...spec },
});
const secret: Stored<Secret> = {
  metadata: { namespace: 'metal', name: 'bmc', uid: 'uid-s', resourceVersion: '3' },
  data: { username: btoa('admin'), password: btoa('secret') },
};
const node = (changes: Partial<KnownNode> = {}): KnownNode => ({ ...aNode(), hostUid: 'uid-1', ...changes });
const seen = (metadata: Metadata, of: KnownNode | null = null) =>
  observeHost(host(metadata), of, observeBmc(host(), secret).reading, NOW);

describe('a host', () => {
  it('is read from its spec and annotations', () => {
    const annotations = {
      'baremetalhost.metal3.io/detached': '',
      'reboot.metal3.io': '{"mode":"hard"}',
      'slipway.dev/host': encodeMemory({ ...emptyHostMemory, doing: 'adopt', since: 5 }),
    };
    expect(seen({ annotations, deletionTimestamp: '2026-01-01T00:00:00Z' })).toMatchObject({
      namespace: 'metal',
      name: 'worker-0',
      isDeleting: true,
      deletingSince: Date.UTC(2026, 0, 1),
      online: true,
      isPaused: false,
      isDetached: true,
      reboots: [{ key: '', mode: 'hard' }],
      bmc: { ok: true, driver: 'redfish', nonBootableISOImage: true },
      memory: { doing: 'adopt', since: 5 },
    });
  });

  it('is not powered off if its spec disables that', () => {
    const disabled = host({}, { disablePowerOff: true });
    expect(observeHost(disabled, null, observeBmc(disabled, secret).reading, NOW).isPowerOffDisabled).toBe(true);
    expect(seen({}).isPowerOffDisabled).toBe(false);
  });

  it.each([
    ['{"deleteAction":"delay"}', true],
    ['{"deleteAction":"delete"}', false],
    ['', false],
    ['delay', false],
    ['null', false],
    [`{"deleteAction":"delay","why":"${'x'.repeat(2000)}"}`, false],
  ])('that is detached with %s has its deletion delayed: %s', (value, isDeletionDelayed) => {
    const annotations = { 'baremetalhost.metal3.io/detached': value };
    expect(seen({ annotations })).toMatchObject({ isDetached: true, isDeletionDelayed });
  });

  const finalizers = ['baremetalhost.metal3.io'];
  const marked = { finalizers, annotations: { 'slipway.dev/host': encodeMemory(emptyHostMemory) } };
  it.each<[string, Metadata, KnownNode | null, boolean]>([
    ['without a finalizer has no owner yet', {}, null, false],
    ['with a finalizer and our memory is ours', marked, null, false],
    ['with a finalizer and our mark in Ironic is ours', { finalizers }, node(), false],
    ['with a finalizer alone is another operator’s', { finalizers }, null, true],
    ['with a node that we did not create is another operator’s', { finalizers }, node({ hostUid: null }), true],
  ])('%s', (_, metadata, of, isForeign) => {
    expect(seen(metadata, of).isForeign).toBe(isForeign);
  });
});

describe('a node', () => {
  it('that was created for another host of this name is updated with its new owner', () => {
    expect(observeNode(node(), host())?.sentDigest).toBe('now');
    expect(observeNode(node({ hostUid: 'uid-0' }), host())?.sentDigest).not.toBe('now');
    expect(observeNode(node({ hostUid: null, sentDigest: null }), host())?.sentDigest).toBeNull();
  });
});

describe('a BMC', () => {
  it('has a new digest with every version of its Secret, and none without one', () => {
    const readDigest = (version: string) => {
      const changed = { ...secret, metadata: { ...secret.metadata, resourceVersion: version } };
      const { reading } = observeBmc(host(), changed);
      return reading.ok ? reading.digest : null;
    };
    expect(readDigest('3')).toBe(readDigest('3'));
    expect(readDigest('4')).not.toBe(readDigest('3'));
    expect(observeBmc(host(), undefined).reading).toMatchObject({ ok: false, code: 'SLW_BMC_CREDENTIALS' });
    expect(observeBmc(host(), secret).driverInfo).toMatchObject({
      redfish_username: 'admin',
      redfish_password: 'secret',
    });
  });

  it('needs no Secret alongside another operator', () => {
    expect(observeBmcAlongside(host())).toMatchObject({ ok: true, nonBootableISOImage: true });
    const ipmi = host({}, { bmc: { ...bmc, address: 'ipmi://10.0.0.1' } });
    expect(observeBmcAlongside(ipmi)).toMatchObject({ ok: false, code: 'SLW_BMC_DRIVER' });
  });
});

describe('a DataImage', () => {
  it('is seen with its ties to the host', () => {
    const metadata = {
      namespace: 'metal',
      name: 'worker-0',
      uid: 'uid-i',
      resourceVersion: '1',
      finalizers: ['dataimage.metal3.io'],
      ownerReferences: [{ apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', name: 'worker-0', uid: 'uid-1' }],
      annotations: { 'slipway.dev/data-image-boot-anyway-after': '3' },
    };
    const image = {
      metadata,
      spec: { url: 'http://iso.example/a.iso' },
      status: { error: { count: 2, message: 'x' } },
    };
    expect(observeDataImage(image, host(), NOW)).toEqual({
      url: 'http://iso.example/a.iso',
      immediate: false,
      isDeleting: false,
      hasFinalizer: true,
      hasOwner: true,
      attachedUrl: null,
      errorCount: 2,
      memory: null,
      bootAnywayAfter: 3,
      refusal: null,
    });
    expect(observeDataImage(image, undefined, NOW).hasOwner).toBe(false);
  });
});
