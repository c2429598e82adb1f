import { machineConfigPools, machineConfigs, nodeAnnotations, nodes } from '@slipway/api';
import { until } from '@slipway/testing/wait';
import { pushImage } from '@slipway/tools/registry';
import { describe, expect, it } from 'vitest';
import {
  cluster,
  next,
  old,
  findOsImage,
  run,
  start,
  untilEvent,
  untilOs,
  untilPoolCondition,
  untilRuns,
  useStreamsCluster,
} from './testing/streams-fixture.ts';

useStreamsCluster();

async function readNodeConfigs(name: string) {
  const { annotations = {} } = (await cluster.client.get(nodes, { name })).metadata;
  return { current: annotations[nodeAnnotations.currentConfig], desired: annotations[nodeAnnotations.desiredConfig] };
}

describe('the stream of a pool', () => {
  it('changes when a user requests another; the status follows when the last machine runs it', async () => {
    await start(old);
    await untilRuns('worker', 'rhel-9');
    for (const name of ['a', 'b'])
      await cluster.addNode(name, 'worker', 'Red Hat Enterprise Linux CoreOS 9.6.20251201-1');
    await cluster.askFor('worker', 'rhel-10');
    await untilOs('worker', 'rhel-10', old);
    await untilOs('master', 'rhel-9', old);
    const target = (await cluster.pool('worker')).spec.configuration?.name;
    const readUpdatedCount = async () => (await cluster.pool('worker')).status?.updatedMachineCount;
    const updateOne = async (done: number) => {
      await until(async () => {
        const waiting: string[] = [];
        for (const name of ['a', 'b']) {
          const { desired, current } = await readNodeConfigs(name);
          if (desired === target && current !== target) waiting.push(name);
        }
        expect(waiting).toHaveLength(1);
        await cluster.update(waiting);
      });
      await until(async () => expect(await readUpdatedCount()).toBe(done));
    };
    await updateOne(1);
    expect((await cluster.pool('worker')).status?.osImageStream).toEqual({ name: 'rhel-9' });
    await updateOne(2);
    await untilRuns('worker', 'rhel-10');
  });

  it('is restored if a user removes its images', async () => {
    await start(old);
    await untilRuns('worker', 'rhel-9');
    const config = (await cluster.pool('worker')).spec.configuration?.name;
    const body = { metadata: { annotations: { 'slipway.dev/os-image-stream-images': null } } };
    await cluster.client.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {});
    await until(async () =>
      expect((await cluster.pool('worker')).metadata.annotations).toHaveProperty([
        'slipway.dev/os-image-stream-images',
      ]),
    );
    await untilOs('worker', 'rhel-9', old);
    expect((await cluster.pool('worker')).spec.configuration?.name).toBe(config);
  });

  it('is worker’s for a custom pool, unless it requests another', async () => {
    await start(old);
    const workers = {
      machineConfigSelector: {
        matchExpressions: [
          { key: 'machineconfiguration.openshift.io/role', operator: 'In' as const, values: ['worker', 'infra'] },
        ],
      },
    };
    await cluster.addPool('infra', workers);
    await untilOs('infra', 'rhel-9', old);
    await cluster.askFor('worker', 'rhel-10');
    await untilOs('infra', 'rhel-10', old);
    await cluster.addPool('edge', { ...workers, osImageStream: { name: 'rhel-9' } });
    await untilOs('edge', 'rhel-9', old);
    expect((await cluster.pool('infra')).spec.osImageStream).toBeUndefined();
  });

  it('that does not exist, or is older, is refused with a list of valid names, and the OS stays', async () => {
    await start(old);
    await untilOs('worker', 'rhel-9', old);
    await cluster.askFor('worker', 'rhel-11');
    const said = /MachineConfigPool worker.*expected one of rhel-10, rhel-9.*found rhel-11.*\[SLW_STREAM_UNKNOWN\]/;
    await untilPoolCondition('worker', 'Degraded', {
      status: 'True',
      reason: 'OSImageStreamInvalid',
      message: expect.stringMatching(said),
    });
    await untilEvent('worker', said);
    expect(await cluster.renderedOs('worker')).toEqual({ image: findOsImage(old, 'rhel-9'), stream: 'rhel-9' });
    await cluster.askFor('worker', 'rhel-10');
    await untilOs('worker', 'rhel-10', old);
    await untilPoolCondition('worker', 'Degraded', { status: 'False' });
    await cluster.askFor('worker', 'rhel-9');
    await untilPoolCondition('worker', 'RenderDegraded', {
      status: 'True',
      message: expect.stringContaining('SLW_STREAM_BACKWARD'),
    });
    expect(await cluster.renderedOs('worker')).toEqual({ image: findOsImage(old, 'rhel-10'), stream: 'rhel-10' });
  });

  it('together with a custom OS image is a conflict that names both', async () => {
    await start(old);
    await untilOs('worker', 'rhel-9', old);
    await cluster.client.create(machineConfigs, {
      metadata: { name: '99-own-os', labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
      spec: { config: { ignition: { version: '3.5.0' } }, osImageURL: findOsImage(next, 'rhel-9') },
    });
    await until(async () =>
      expect(await cluster.renderedOs('worker')).toEqual({ image: findOsImage(next, 'rhel-9'), stream: undefined }),
    );
    await cluster.askFor('worker', 'rhel-9');
    await untilPoolCondition('worker', 'RenderDegraded', {
      status: 'True',
      message: expect.stringMatching(/99-own-os.*spec\.osImageURL.*worker.*stream rhel-9.*\[SLW_RENDER_OS_STREAM\]/),
    });
  });

  it.each([
    ['by the labels of the image that it runs', false],
    ['by the version of its machines, if the image is no longer in a registry', true],
  ])('of a cluster older than streams is what it runs, %s, whatever the current default', async (_, isGone) => {
    const image = await pushImage(cluster.registry, 'openshift/before-streams', {
      labels: { 'containers.bootc': '1', version: '418.94.202501010000-0' },
      layers: [{ files: [{ path: 'os', contents: 'before' }] }],
    });
    const before = isGone ? image.replace(/[0-9a-f]{64}$/, '1'.repeat(64)) : image;
    await cluster.setConfigMap({ baseOSContainerImage: before, releaseVersion: '4.18.0' });
    await cluster.addPool('worker');
    const off = run({ gate: false });
    await until(async () => expect((await cluster.renderedOs('worker')).image).toBe(before));
    await until(async () => expect((await cluster.pool('worker')).status?.configuration?.name).toBeDefined());
    if (isGone) await cluster.addNode('a', 'worker', 'Red Hat Enterprise Linux CoreOS 418.94.202501010000-0');
    await off.stop();
    await cluster.setConfigMap(null);
    await cluster.setRelease(next.releaseImage, '5.0.0');
    run();
    await untilOs('worker', 'rhel-9', next);
    await cluster.addPool('standalone');
    await untilOs('standalone', 'rhel-10', next);
  });
});
