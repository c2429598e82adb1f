import { clusterVersions, machineConfigPools, osImageStreams, streamMarksAnnotation } from '@slipway/api';
import { type KubeObject, type Resource } from '@slipway/kube';
import { customPool } from '@slipway/testing/builders';
import { customResourceDefinitions } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { pushPayload } from '@slipway/tools/registry';
import { describe, expect, it } from 'vitest';
import {
  cluster,
  old,
  findOsImage,
  poolCondition,
  rhel10,
  rhel9,
  run,
  start,
  STREAM,
  untilCondition,
  untilOs,
  untilPoolCondition,
  untilRuns,
  untilStreams,
  useStreamsCluster,
} from './testing/streams-fixture.ts';

useStreamsCluster();

describe('a stream that is deprecated and removed', () => {
  const payloadWith = (version: string, state: 'deprecated' | 'blocked') =>
    pushPayload(cluster.registry, {
      version,
      streams: [
        { ...rhel9, version: `9.8.${version}`, lifecycle: { state, successor: 'rhel-10', message: 'read on' } },
        rhel10,
      ],
    });

  it('is reported, then blocks upgrades, then freezes its pools; the migration ends all of that', async () => {
    await start(old);
    await untilRuns('worker', 'rhel-9');
    await cluster.askFor('master', 'rhel-10');
    await untilRuns('master', 'rhel-10');
    const deprecated = await payloadWith('4.23.0', 'deprecated');
    await cluster.setRelease(deprecated.releaseImage, '4.23.0');
    await untilPoolCondition('worker', 'OSStreamDeprecated', {
      status: 'True',
      reason: 'StreamEndOfLife',
      message: expect.stringMatching(
        /worker.*rhel-9.*Set spec\.osImageStream\.name of MachineConfigPool worker to rhel-10.*read on/,
      ),
    });
    await untilPoolCondition('master', 'OSStreamDeprecated', { status: 'False' });
    await untilCondition('operator', 'Upgradeable', { status: 'True' });

    const blocked = await payloadWith('4.24.0', 'blocked');
    await cluster.setRelease(blocked.releaseImage, '4.24.0');
    const held = {
      status: 'False',
      reason: 'DeprecatedOSStreamInUse',
      message: expect.stringMatching(/worker.*to rhel-10/),
    };
    await untilCondition('operator', 'Upgradeable', held);
    await untilCondition('version', 'Upgradeable', held);
    await untilOs('worker', 'rhel-9', blocked);

    const removed = await pushPayload(cluster.registry, { version: '5.1.0', streams: [rhel10] });
    await cluster.setRelease(removed.releaseImage, '5.1.0');
    await untilStreams(['rhel-10'], 'rhel-10');
    await untilPoolCondition('worker', 'OSStreamDeprecated', { status: 'True', reason: 'StreamRemoved' });
    await untilCondition('operator', 'Upgradeable', { status: 'False' });
    expect(await cluster.renderedOs('worker')).toEqual({ image: findOsImage(blocked, 'rhel-9'), stream: 'rhel-9' });

    await cluster.askFor('worker', 'rhel-10');
    await untilOs('worker', 'rhel-10', removed);
    await untilPoolCondition('worker', 'OSStreamDeprecated', { status: 'False', reason: 'AsExpected' });
    await untilCondition('operator', 'Upgradeable', { status: 'True', reason: 'AsExpected' });
    await untilCondition('version', 'Upgradeable', { status: 'True' });
  });

  it('can be marked by an administrator: as blocked, as removed, which no pool may request, and as neither', async () => {
    await start(old);
    await untilRuns('worker', 'rhel-9');
    const mark = (marks: object | null) =>
      cluster.client.patch(
        osImageStreams,
        { name: 'cluster' },
        {
          type: 'merge',
          body: {
            metadata: { annotations: { [streamMarksAnnotation]: marks === null ? null : JSON.stringify(marks) } },
          },
        },
        {},
      );
    const spec = { osImageStream: { name: 'rhel-10' } };
    const dryRun = { dryRun: true };
    const requests = [
      () => cluster.admin.patch(machineConfigPools, { name: 'master' }, { type: 'merge', body: { spec } }, {}, dryRun),
      () => cluster.admin.create(machineConfigPools, customPool('edge', spec), dryRun),
    ];
    for (const request of requests) await expect(request()).resolves.toMatchObject({ spec });
    await mark({ 'rhel-9': { state: 'blocked', successor: 'rhel-10', message: 'not certified' } });
    await untilPoolCondition('worker', 'OSStreamDeprecated', {
      status: 'True',
      reason: 'StreamEndOfLife',
      message: expect.stringMatching(/to rhel-10\. Message: not certified$/),
    });
    await untilCondition('operator', 'Upgradeable', { status: 'False', reason: 'DeprecatedOSStreamInUse' });
    await mark({ 'rhel-10': { state: 'removed' } });
    await untilStreams(['rhel-9'], 'rhel-9');
    await untilCondition('operator', 'Upgradeable', { status: 'True' });
    const refusal = {
      code: 'SLW_KUBE_FORBIDDEN',
      message: expect.stringMatching(/pool-os-stream-exists.*requests the OS image stream rhel-10.*Set one of rhel-9,/),
    };
    // A policy sees a change some moments later.
    for (const request of requests) await until(() => expect(request()).rejects.toMatchObject(refusal));
    await mark(null);
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    for (const request of requests) await until(() => expect(request()).resolves.toMatchObject({ spec }));
  });

  it('does not change a ClusterVersion of the platform', async () => {
    await start(old);
    const crds: Resource<KubeObject & { metadata: { managedFields?: object[] } }> = customResourceDefinitions;
    const name = `${clusterVersions.plural}.${clusterVersions.group}`;
    const managers = await cluster.client.get(crds, { name });
    const as = async (manager: string) => {
      const managedFields = managers.metadata.managedFields?.map((each) => Object.assign({}, each, { manager }));
      await cluster.client.patch(crds, { name }, { type: 'merge', body: { metadata: { managedFields } } }, {});
    };
    await as('cluster-version-operator');
    try {
      await cluster.setRelease((await payloadWith('4.24.1', 'blocked')).releaseImage, '4.24.1');
      await untilCondition('operator', 'Upgradeable', { status: 'False' });
      await cluster.addPool('infra');
      await untilRuns('infra', 'rhel-9');
      expect(await cluster.condition('version', 'Upgradeable')).toBeUndefined();
    } finally {
      await as('slipway-install');
    }
  });
});

describe('with the feature gate off', () => {
  it('there is no OSImageStream, and fields and annotations have no effect', async () => {
    await cluster.setConfigMap({ baseOSContainerImage: findOsImage(old, 'rhel-9'), releaseVersion: '4.22.0' });
    await start(old, { gate: false });
    await cluster.askFor('worker', 'rhel-10');
    await until(async () => expect((await cluster.renderedOs('worker')).image).toBe(findOsImage(old, 'rhel-9')));
    await cluster.addPool('infra');
    await until(async () => expect((await cluster.renderedOs('infra')).image).toBe(findOsImage(old, 'rhel-9')));
    expect(await cluster.streams()).toBeUndefined();
    const { metadata, status } = await cluster.pool('worker');
    expect(metadata.annotations ?? {}).not.toHaveProperty([STREAM]);
    expect(status?.osImageStream).toBeUndefined();
    expect(await poolCondition('worker', 'OSStreamDeprecated')).toBeUndefined();
  });

  it('controllers that start remove what earlier ones left behind', async () => {
    const before = await start(old);
    await untilOs('worker', 'rhel-9', old);
    await before.stop();
    run({ gate: false });
    await until(async () => {
      const { annotations = {} } = (await cluster.pool('worker')).metadata;
      expect(Object.keys(annotations).filter((key) => key.startsWith(STREAM))).toEqual([]);
      expect(await cluster.streams()).toBeUndefined();
    });
  });

  it('streams appear and disappear with the gate while everything runs, and leave nothing behind', async () => {
    await cluster.setConfigMap({
      baseOSContainerImage: findOsImage(old, 'rhel-9'),
      baseOSExtensionsContainerImage: old.os.get('rhel-9')?.osExtensionsImage ?? '',
      releaseVersion: '4.22.0',
    });
    const { turn } = await start(old, { gate: false });
    await until(async () => expect((await cluster.renderedOs('worker')).image).toBe(findOsImage(old, 'rhel-9')));
    const config = (await cluster.pool('worker')).spec.configuration?.name;
    turn(true);
    await untilOs('worker', 'rhel-9', old);
    await untilRuns('worker', 'rhel-9');
    // The same OS: nothing was rendered again, and no machine changes.
    expect((await cluster.pool('worker')).spec.configuration?.name).toBe(config);
    await cluster.askFor('worker', 'rhel-11');
    await until(async () =>
      expect((await cluster.pool('worker')).metadata.annotations).toHaveProperty([
        'slipway.dev/os-image-stream-problem',
      ]),
    );
    await cluster.client.patch(
      machineConfigPools,
      { name: 'worker' },
      { type: 'merge', body: { spec: { osImageStream: { name: 'rhel-10' } } } },
      {},
    );
    await untilOs('worker', 'rhel-10', old);
    await untilRuns('worker', 'rhel-10');
    turn(false);
    await untilRuns('worker', undefined);
    await until(async () => {
      const { metadata } = await cluster.pool('worker');
      expect(Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith(STREAM))).toEqual([]);
      expect((await cluster.renderedOs('worker')).image).toBe(findOsImage(old, 'rhel-9'));
      expect(await poolCondition('worker', 'OSStreamDeprecated')).toBeUndefined();
      expect(await cluster.streams()).toBeUndefined();
    });
  });
});
