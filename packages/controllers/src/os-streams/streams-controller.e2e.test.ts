import { osImageStreams, releasePayloadImageAnnotation } from '@slipway/api';
import { until, untilRecovered } from '@slipway/testing/wait';
import { pushPayload } from '@slipway/tools/registry';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it } from 'vitest';
import {
  cluster,
  next,
  old,
  findOsImage,
  rhel9,
  run,
  start,
  untilCondition,
  untilEvent,
  untilOs,
  untilPoolCondition,
  untilRuns,
  untilStreams,
  useStreamsCluster,
} from './testing/streams-fixture.ts';

useStreamsCluster();

const laterWrites = [
  'patch OSImageStream/status cluster',
  'patch OSImageStream cluster',
  'patch MachineConfigPool worker',
];
const firstWrites = [
  'create OSImageStream cluster',
  'patch OSImageStream/status cluster',
  'patch MachineConfigPool worker',
];

describe('OSImageStream cluster', () => {
  it('is built from the release image, and every pool follows the platform’s default', async () => {
    await start(old);
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    const { spec, status } = (await cluster.streams()) ?? {};
    expect(spec).toEqual({ defaultStream: 'rhel-9' });
    expect(status?.availableStreams).toEqual([
      { name: 'rhel-10', ...old.os.get('rhel-10') },
      { name: 'rhel-9', ...old.os.get('rhel-9') },
    ]);
    await untilOs('worker', 'rhel-9', old);
    await untilOs('master', 'rhel-9', old);
    await untilRuns('worker', 'rhel-9');
    await untilCondition('operator', 'Degraded', { status: 'False', reason: 'AsExpected' });
    await untilCondition('operator', 'Upgradeable', { status: 'True' });
    await untilCondition('operator', 'Available', { status: 'True', reason: 'AsExpected', message: 'Version: 4.22.0' });
    await untilPoolCondition('worker', 'OSStreamDeprecated', { status: 'False', reason: 'AsExpected' });
  });

  it('is static: while nothing changes, a restart writes nothing and calls no registry', async () => {
    const first = await start(old);
    await untilRuns('worker', 'rhel-9');
    await untilRuns('master', 'rhel-9');
    await untilCondition('operator', 'Available', { status: 'True', message: 'Version: 4.22.0' });
    await untilCondition('operator', 'Progressing', { status: 'False' });
    await first.stop();
    const before = cluster.registry.requests().length;
    const { writes } = run();
    // Runs after all other work.
    await cluster.addPool('infra');
    await untilRuns('infra', 'rhel-9');
    expect(cluster.registry.requests().length).toBe(before);
    expect(writes.filter((each) => !/infra/.test(each))).toEqual([]);
  });

  it('is rebuilt when the payload changes; no pool leaves its stream for the new default, and a new pool follows it', async () => {
    await start(old);
    await cluster.askFor('master', 'rhel-9');
    await untilOs('worker', 'rhel-9', old);
    await untilOs('master', 'rhel-9', old);
    await cluster.setRelease(next.releaseImage, '5.0.0');
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-10');
    await until(async () => expect((await cluster.streams())?.spec).toEqual({ defaultStream: 'rhel-10' }));
    await untilOs('worker', 'rhel-9', next);
    await untilOs('master', 'rhel-9', next);
    await cluster.addPool('standalone');
    await untilOs('standalone', 'rhel-10', next);
  });

  it('follows the tag of a release image that is specified by tag', async () => {
    // The tag of a release is its version.
    const push = (version: string) =>
      pushPayload(cluster.registry, { version: '4.22.7', streams: [{ ...rhel9, version }] });
    const first = await push('9.6.20260101-0');
    const byTag = first.releaseImage.replace(/@.*$/, ':4.22.7');
    await start({ ...first, releaseImage: byTag });
    await untilOs('worker', 'rhel-9', first);
    const second = await push('9.6.20260202-0');
    await untilOs('worker', 'rhel-9', second);
    expect((await cluster.streams())?.metadata.annotations).toMatchObject({ [releasePayloadImageAnnotation]: byTag });
  });

  it('stays unchanged while the registry fails, and the cluster reports it until it succeeds', async () => {
    await start(old);
    await untilOs('worker', 'rhel-9', old);
    const good = await cluster.streams();
    const missing = old.releaseImage.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
    await cluster.setRelease(missing, '5.0.0');
    await untilCondition('operator', 'Degraded', {
      status: 'True',
      reason: 'OSImageStreamDegraded',
      message: expect.stringMatching(/release image: .*SLW_REGISTRY_NOT_FOUND.*\[SLW_STREAM_SOURCE_FAILED\]/),
    });
    await untilEvent('cluster', /^OSImageStreamDegraded: release image: .*until it succeeds/);
    expect((await cluster.streams())?.metadata.resourceVersion).toBe(good?.metadata.resourceVersion);
    await cluster.setRelease(next.releaseImage, '5.0.0');
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-10');
    await untilCondition('operator', 'Degraded', { status: 'False' });
  });

  it('waits for a valid pull secret, and continues immediately when it arrives', async () => {
    await cluster.setPassword('wrong');
    await start(old);
    await untilCondition('operator', 'Degraded', {
      status: 'True',
      message: expect.stringContaining('SLW_REGISTRY_UNAUTHORIZED'),
    });
    const said = await cluster.condition('operator', 'Degraded');
    expect(said?.message).not.toContain('wrong');
    await cluster.setPassword();
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    await untilCondition('operator', 'Degraded', { status: 'False' });
  });

  it('has the images of the release if the ConfigMap has others, and both are reported', async () => {
    await cluster.setConfigMap({
      baseOSContainerImage: findOsImage(next, 'rhel-9'),
      baseOSExtensionsContainerImage: next.os.get('rhel-9')?.osExtensionsImage ?? '',
      releaseVersion: '4.22.0',
    });
    const { log } = await start(old);
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    await untilOs('worker', 'rhel-9', old);
    const both = new RegExp(
      `osImage is ${findOsImage(old, 'rhel-9')} according to the release image, but ${findOsImage(next, 'rhel-9')} according to`,
    );
    await untilEvent('cluster', both);
    expect(log()).toMatch(both);
    await untilCondition('operator', 'Degraded', { status: 'False' });
  });

  it('follows an update of the release while the images of a stale ConfigMap are gone, and the cluster names the ConfigMap', async () => {
    await start(old);
    await untilOs('worker', 'rhel-9', old);
    const gone = (image: string): string => image.replace(/[0-9a-f]{64}$/, '0'.repeat(64));
    await cluster.setConfigMap({
      baseOSContainerImage: gone(findOsImage(old, 'rhel-9')),
      baseOSExtensionsContainerImage: gone(old.os.get('rhel-9')?.osExtensionsImage ?? ''),
      releaseVersion: '4.22.0',
    });
    await cluster.setRelease(next.releaseImage, '5.0.0');
    await untilOs('worker', 'rhel-9', next);
    await untilCondition('operator', 'Degraded', {
      status: 'True',
      message: expect.stringMatching(
        /^ConfigMap machine-config-osimageurl: .*SLW_REGISTRY_NOT_FOUND.*uses the other sources.*\[SLW_STREAM_SOURCE_FAILED\]$/,
      ),
    });
    await cluster.setConfigMap({});
    await untilRecovered('the cluster reports no stale ConfigMap', () =>
      untilCondition('operator', 'Degraded', { status: 'False' }),
    );
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-10');
  });

  it('is built from the sources that work, and completed when the others do', async () => {
    await cluster.setConfigMap({
      baseOSContainerImage: findOsImage(old, 'rhel-9'),
      baseOSExtensionsContainerImage: old.os.get('rhel-9')?.osExtensionsImage ?? '',
      releaseVersion: '4.22.0',
    });
    await start({ ...old, releaseImage: old.releaseImage.replace(/[0-9a-f]{64}$/, '0'.repeat(64)) });
    await until(async () =>
      expect((await cluster.streams())?.status?.availableStreams).toMatchObject([{ name: 'rhel-9' }]),
    );
    await untilCondition('operator', 'Degraded', { status: 'True' });
    await untilOs('worker', 'rhel-9', old);
    await cluster.setRelease(old.releaseImage);
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    await untilCondition('operator', 'Degraded', { status: 'False' });
  });

  it('has no stream of which a source has only one image: pools wait for the other, and report that within a second', async () => {
    const { osImage = '', osExtensionsImage = '' } = old.os.get('rhel-9') ?? {};
    const half = { baseOSContainerImage: osImage, releaseVersion: '4.22.0' };
    await cluster.setConfigMap(half);
    run();
    // Its first pool shows that the controllers have started.
    await cluster.addPool('master');
    const waits = { status: 'True', reason: 'OSImageMissing' };
    await untilPoolCondition('master', 'RenderDegraded', waits);
    const began = performance.now();
    await cluster.addPool('worker');
    await untilPoolCondition('worker', 'RenderDegraded', waits);
    console.log(
      `RenderDegraded of a new pool without an OS image: after ${((performance.now() - began) / 1000).toFixed(2)} s; goal: 1 s`,
    );
    await untilCondition('operator', 'Degraded', {
      status: 'True',
      message: expect.stringContaining('[SLW_STREAM_PARTIAL]'),
    });
    await cluster.setConfigMap({ ...half, baseOSExtensionsContainerImage: osExtensionsImage });
    await untilRecovered('a pool is rendered with the completed pair of images', () =>
      untilOs('worker', 'rhel-9', old),
    );
    await untilPoolCondition('worker', 'RenderDegraded', { status: 'False' });
  });

  it('is not created without the platform’s default stream, and the cluster is Degraded', async () => {
    const without = await pushPayload(cluster.registry, { version: '5.0.0', streams: [rhel9] });
    await start(without);
    await untilCondition('operator', 'Degraded', {
      status: 'True',
      message: expect.stringMatching(
        /expected the stream rhel-10.*available streams: rhel-9.*\[SLW_STREAM_NO_DEFAULT\]/,
      ),
    });
    expect(await cluster.streams()).toBeUndefined();
    // Pools wait for it, and get no OS that was not chosen.
    expect((await cluster.pool('worker')).spec.configuration).toBeUndefined();
    await untilPoolCondition('worker', 'RenderDegraded', {
      status: 'True',
      reason: 'OSImageMissing',
      message: expect.stringMatching(
        /MachineConfigPool worker: expected an OS image, found none.*\[SLW_STREAM_NO_IMAGE\]/,
      ),
    });
    await cluster.setRelease(next.releaseImage, '5.0.0');
    await untilOs('worker', 'rhel-10', next);
    await untilPoolCondition('worker', 'RenderDegraded', { status: 'False' });
  });

  it('is recreated when a user deletes it', async () => {
    await start(old);
    await untilRuns('worker', 'rhel-9');
    const deleted = await cluster.streams();
    await cluster.client.delete(osImageStreams, { name: 'cluster' }, {});
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    expect((await cluster.streams())?.metadata.uid).not.toBe(deleted?.metadata.uid);
    await untilOs('worker', 'rhel-9', old);
  });

  it('has the default that a user sets, until the user resets it', async () => {
    await start(old);
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    await untilOs('worker', 'rhel-9', old);
    const set = (defaultStream: string) =>
      cluster.client.patch(
        osImageStreams,
        { name: 'cluster' },
        { type: 'merge', body: { spec: { defaultStream } } },
        {},
      );
    await set('rhel-10');
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-10');
    await cluster.addPool('standalone');
    await untilOs('standalone', 'rhel-10', old);
    await untilOs('worker', 'rhel-9', old);
    await set('rhel-9');
    await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
    expect((await cluster.streams())?.spec).toEqual({ defaultStream: 'rhel-9' });
  });

  it.each(sampleCases('first writes', firstWrites, 1 / 3))(
    'becomes complete if its first writer is killed before: %s',
    async (killAtWrite) => {
      const killed = await start(old, { killAtWrite });
      await until(() => expect(killed.log()).toContain('the process is dead'));
      await killed.stop();
      run();
      await untilStreams(['rhel-10', 'rhel-9'], 'rhel-9');
      await untilOs('worker', 'rhel-9', old);
    },
  );

  it.each(sampleCases('later writes', laterWrites, 1 / 3))(
    'becomes complete if its writer is killed during an update to another payload before: %s',
    async (killAtWrite) => {
      const first = await start(old);
      await untilRuns('worker', 'rhel-9');
      await untilRuns('master', 'rhel-9');
      await first.stop();
      await cluster.setRelease(next.releaseImage, '5.0.0');
      const killed = run({ killAtWrite });
      await until(() => expect(killed.log()).toContain('the process is dead'));
      await killed.stop();
      run();
      await untilStreams(['rhel-10', 'rhel-9'], 'rhel-10');
      expect((await cluster.streams())?.status?.availableStreams).toMatchObject([
        {},
        { osImage: findOsImage(next, 'rhel-9') },
      ]);
      await until(async () => expect((await cluster.streams())?.spec).toEqual({ defaultStream: 'rhel-10' }));
      await untilOs('worker', 'rhel-9', next);
    },
  );
});
