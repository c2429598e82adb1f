// What needs no Ironic: whose DataImage it is, and what its status says while nothing can be done.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, DRIVE_MEMORY_ANNOTATION } from '@slipway/api';
import { HOST_FINALIZER, IMAGE_FINALIZER, type Ironic, PAUSED_ANNOTATION } from '@slipway/fleet/hosts';
import { describe, expect, it } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { dataImagesController } from './controller.ts';
import { IronicError } from './ironic/ironic-error.ts';

const name = { namespace: 'metal', name: 'worker-0' };
const MINUTE = 60_000;
const url = 'http://10.0.0.5/site.iso';

/** Only the node is asked for: the host has no credentials, so nothing is registered. */
function createIronic() {
  const state = { isDown: true };
  const refuse = () => Promise.reject(new Error('not expected'));
  const ironic: Ironic = {
    node: () =>
      state.isDown
        ? Promise.reject(new IronicError('SLW_IRONIC_SERVER', 'expected success, found status 503'))
        : Promise.resolve(null),
    register: refuse,
    update: refuse,
    provision: refuse,
    power: refuse,
    setMaintenance: refuse,
    remove: refuse,
    drive: refuse,
    attach: refuse,
    detach: refuse,
    close: () => Promise.resolve(),
  };
  return { state, ironic };
}

function start(host: Partial<BareMetalHost['metadata']> = {}, image: Partial<DataImage['metadata']> = {}) {
  const { state, ironic } = createIronic();
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [dataImagesController({ ironic: () => ironic })],
  });
  async function pass(minutes: number, isOver = () => false): Promise<number> {
    const began = time.now();
    while (time.now() < began + minutes * MINUTE && !isOver()) {
      await time.runUntil(time.now() + 1000);
      await new Promise((resolve) => void setTimeout(resolve, 0));
    }
    return (time.now() - began) / 1000;
  }
  const bmc = { address: 'redfish-virtualmedia://10.0.1.17/redfish/v1/Systems/1', credentialsName: 'none' };
  api.create(bareMetalHosts, {
    metadata: { ...name, ...host },
    spec: { online: true, externallyProvisioned: true, bmc },
  });
  api.create(dataImages, { metadata: { ...name, ...image }, spec: { url } });
  return {
    api,
    ironic: state,
    image: () => api.get(dataImages, name),
    condition: () => api.get(dataImages, name).status?.conditions?.find(({ type }) => type === 'Attached'),
    pass,
  };
}

describe('a DataImage', () => {
  it('gets its owner and finalizer while Ironic is down, and says why nothing happens, until Ironic is back', async () => {
    const { api, ironic, image, condition, pass } = start();
    await pass(1);
    const { uid } = api.get(bareMetalHosts, name).metadata;
    expect(image().metadata).toMatchObject({
      finalizers: [IMAGE_FINALIZER],
      ownerReferences: [{ kind: 'BareMetalHost', name: name.name, uid }],
    });
    expect(condition()).toMatchObject({
      status: 'False',
      reason: 'HostNotReady',
      message: expect.stringMatching(/metal\/worker-0 cannot be managed now, and is retried: .*503.*SLW_IRONIC_SERVER/),
    });
    const writes = api.changesOf(dataImages).length;
    await pass(5);
    expect(api.changesOf(dataImages)).toHaveLength(writes);
    ironic.isDown = false;
    const seconds = await pass(1, () => !(condition()?.message ?? '').includes('503'));
    console.log(`a DataImage goes on ${seconds} s after Ironic is back; goal: 60 s`);
    expect(condition()?.message).not.toContain('503');
  });

  it('of a host of another operator gets its owner too', async () => {
    const { image, pass } = start({ finalizers: [HOST_FINALIZER] });
    await pass(1);
    expect(image().metadata).toMatchObject({ finalizers: [IMAGE_FINALIZER], ownerReferences: [{ name: name.name }] });
  });

  it('of a paused host says so, is left alone, and goes on after the pause', async () => {
    const { api, image, condition, pass } = start({ annotations: { [PAUSED_ANNOTATION]: '' } });
    await pass(1);
    expect(image().metadata.finalizers).toBeUndefined();
    expect(condition()).toMatchObject({ reason: 'HostNotReady', message: expect.stringContaining(PAUSED_ANNOTATION) });
    const body = { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } };
    api.patch(bareMetalHosts, name, { type: 'merge', body });
    const seconds = await pass(1, () => image().metadata.finalizers !== undefined);
    console.log(`a DataImage goes on ${seconds} s after the pause of its host; goal: 60 s`);
    await pass(1);
    expect(image().metadata.finalizers).toEqual([IMAGE_FINALIZER]);
    expect(condition()?.message).not.toContain(PAUSED_ANNOTATION);
  });

  it('that a backup has restored is treated as new: its record of the drive is about an object that is gone', async () => {
    const annotations = {
      [DRIVE_MEMORY_ANNOTATION]: `{"of":"gone","doing":"none","url":"${url}","isAttached":true,"reported":"x"}`,
    };
    const { ironic, condition, pass } = start({}, { annotations });
    ironic.isDown = false;
    await pass(1);
    expect(condition()).toMatchObject({ status: 'False' });
  });

  it('of an earlier host with the same name is left to garbage collection', async () => {
    const owner = { apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', name: name.name, uid: 'gone' };
    const { api, pass } = start({}, { ownerReferences: [owner] });
    await pass(1);
    expect(api.changesOf(dataImages)).toHaveLength(1);
  });
});
