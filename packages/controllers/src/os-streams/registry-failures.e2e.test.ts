import {
  type ClusterOperator,
  clusterOperators,
  machineConfigPools,
  machineConfigs,
  osImageStreams,
  osStreamImagesAnnotation,
} from '@slipway/api';
import { until, untilRecovered } from '@slipway/testing/wait';
import type { Payload } from '@slipway/tools/registry';
import { sampleCases } from '@slipway/testing/sample';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  cut,
  fallSilent,
  type Fault,
  type FaultyRegistry,
  giveInstead,
  type ImagePart,
  refuse,
  neverRespond,
  startFaultyRegistry,
} from './testing/faulty-registry.ts';
import { forgedConfig, forgedLayer } from './testing/forged-parts.ts';
import { watchFor } from './testing/sightings.ts';
import {
  cluster,
  next,
  old,
  findOsImage,
  start,
  untilCondition,
  untilOs,
  untilPoolCondition,
  untilRuns,
  untilStreams,
  useStreamsCluster,
} from './testing/streams-fixture.ts';

let registry: FaultyRegistry;
useStreamsCluster({
  through: async (real) => (registry = await startFaultyRegistry(real)),
  retries: 1,
  // A loaded machine may answer late: a request that is not spoilt must never count as silent.
  silenceMs: 3000,
  retry: { firstMs: 50, mostMs: 200 },
});

const streamNames = ['rhel-10', 'rhel-9'];
const pools = ['master', 'worker'];
const digestIn = (reference: string): string => reference.slice(reference.indexOf('sha256:'));
const releaseManifest = ({ releaseImage }: Payload): string =>
  `/v2/openshift/release/manifests/${digestIn(releaseImage)}`;

/** Everything that the OSImageStream reports about a payload. */
const buildStatus = ({ os }: Payload, defaultStream: string) => ({
  availableStreams: streamNames.map((name) => ({ name, ...os.get(name) })),
  defaultStream,
});
const findRhel9Images = ({ os }: Payload) => os.get('rhel-9');

/** All written state that determines the images of a machine. */
async function watchImages() {
  const { client } = cluster;
  const streams = await watchFor(client, osImageStreams, ({ status }) => status);
  const tracked = await watchFor(client, machineConfigPools, ({ metadata }): unknown => {
    const images = metadata.annotations?.[osStreamImagesAnnotation];
    return images === undefined ? undefined : JSON.parse(images);
  });
  const rendered = await watchFor(client, machineConfigs, ({ metadata, spec }) =>
    metadata.name.startsWith('rendered-') ? spec?.osImageURL : undefined,
  );
  return { streams, tracked, rendered };
}

/** Everything settled on the old release. */
async function startWhole() {
  // A source that keeps working: it has only some of the streams, and must not replace the previous ones.
  await cluster.setConfigMap({
    baseOSContainerImage: findOsImage(old, 'rhel-9'),
    baseOSExtensionsContainerImage: findRhel9Images(old)?.osExtensionsImage ?? '',
    releaseVersion: '4.22.0',
  });
  await start(old);
  for (const pool of pools) {
    await untilOs(pool, 'rhel-9', old);
    await untilRuns(pool, 'rhel-9');
  }
  await untilCondition('operator', 'Degraded', { status: 'False' });
  const good = await cluster.streams();
  expect(good?.status).toEqual(buildStatus(old, 'rhel-9'));
  return good;
}

const degradedIn = ({ status }: ClusterOperator) => status?.conditions?.find(({ type }) => type === 'Degraded');

const untilDegraded = (found: RegExp, part: ImagePart, code: string) =>
  until(async () => {
    const said = await cluster.condition('operator', 'Degraded');
    expect(said).toMatchObject({ status: 'True', reason: 'OSImageStreamDegraded' });
    const image = `${registry.host}/openshift/[a-z0-9-]+@sha256:[0-9a-f]{64}`;
    const about = new RegExp(`release image: ${image}: ${part} sha256:[0-9a-f]{64} from ${registry.host}: expected `);
    expect(said?.message).toMatch(about);
    expect(said?.message).toMatch(found);
    expect(said?.message).toContain(`[SLW_REGISTRY_${code}]`);
  });

/** The previous release's manifest, another stream's config, and a layer that names the previous release's OS. */
const forge: Fault = giveInstead(({ part, body }) => {
  if (part === 'manifest') return registry.good(releaseManifest(old)) ?? Buffer.alloc(0);
  if (part === 'config') return forgedConfig(body);
  return forgedLayer(body, digestIn(findOsImage(next, 'rhel-9')), digestIn(findOsImage(old, 'rhel-9')));
});

/** Mid-layer, or before any byte. */
const hang: Fault = (good, response) => (good.part === 'layer' ? fallSilent : neverRespond)(good, response);

interface Failure {
  readonly name: string;
  readonly fault: Fault;
  /** Which responses to spoil, in the order of the requests. */
  readonly parts: readonly ImagePart[];
  readonly code: string;
  readonly found: RegExp;
  /** The Retry-After, in milliseconds. */
  readonly rest?: number;
}

const everything: readonly ImagePart[] = ['manifest', 'layer', 'config'];
const login = { 'www-authenticate': 'Basic realm="slipway"' };

const passing: readonly Failure[] = [
  {
    name: '429',
    fault: refuse(429, { 'retry-after': '1' }),
    parts: ['layer'],
    code: 'THROTTLED',
    found: /found status 429\. .*; try again in 1 s\..* \(tried 2 times\)/,
    rest: 1000,
  },
  {
    name: '500',
    fault: refuse(500),
    parts: everything,
    code: 'SERVER',
    found: /found status 500\. .* \(tried 2 times\)/,
  },
  {
    name: 'cut mid-layer',
    fault: cut,
    parts: ['layer'],
    code: 'CUT',
    found: /but the connection closed early .* \(tried 2 times\)/,
  },
  {
    name: 'hanging',
    fault: hang,
    parts: ['manifest', 'layer'],
    code: 'SILENT',
    found: /but no data arrived before the timeout.* \(tried 2 times\)/,
  },
];

const failures: readonly Failure[] = [
  {
    name: '401',
    fault: refuse(401, login),
    parts: everything,
    code: 'UNAUTHORIZED',
    found: /found status 401\. The login for 127\.0\.0\.1:\d+ was used\. Add a login/,
  },
  {
    name: '404',
    fault: refuse(404),
    parts: everything,
    code: 'NOT_FOUND',
    found: /found status 404\. Check the name, tag and digest/,
  },
  {
    name: 'wrong digest',
    fault: forge,
    parts: everything,
    code: 'DIGEST',
    found: /expected the digest (sha256:[0-9a-f]{64}), found (?!\1)sha256:[0-9a-f]{64}\. The content was discarded/,
  },
  ...passing,
];

describe('the registry failing', () => {
  it.each(sampleCases('registry failures', failures, 2 / 7))(
    'with $name during a change of the payload: everything stays unchanged and the failure is reported, until it succeeds',
    async ({ fault, parts, code, found }) => {
      onTestFinished(() => registry.work());
      const good = await startWhole();
      const seen = await watchImages();

      for (const [at, part] of parts.entries()) {
        // The earlier parts are good by now: it continues automatically, up to the next failure.
        registry.work();
        registry.spoil(part, fault);
        if (at === 0) await cluster.setRelease(next.releaseImage, '5.0.0');
        await untilDegraded(found, part, code);
      }
      expect(await cluster.streams()).toEqual(good);
      for (const pool of pools) await untilOs(pool, 'rhel-9', old);

      registry.work();
      await untilRecovered(`the streams follow the release (${code})`, () =>
        untilCondition('operator', 'Degraded', { status: 'False', reason: 'AsExpected' }),
      );
      await untilStreams(streamNames, 'rhel-10');
      for (const pool of pools) await untilOs(pool, 'rhel-9', next);
      expect((await cluster.streams())?.metadata.uid).toBe(good?.metadata.uid);
      await until(() => {
        expect(seen.streams.of('cluster')).toEqual([buildStatus(old, 'rhel-9'), buildStatus(next, 'rhel-10')]);
        for (const pool of pools) expect(seen.tracked.of(pool)).toEqual([findRhel9Images(old), findRhel9Images(next)]);
        expect(seen.rendered.all).toEqual(new Set([findOsImage(old, 'rhel-9'), findOsImage(next, 'rhel-9')]));
      });
    },
  );

  it.each(sampleCases('failures once', passing, 1 / 4))(
    'with $name, once: it is retried, and not reported',
    async ({ fault, parts, rest = 0 }) => {
      onTestFinished(() => registry.work());
      const said = await watchFor(cluster.client, clusterOperators, ({ status }) =>
        status?.conditions?.find(({ type }) => type === 'Degraded'),
      );
      const { streams } = await watchImages();
      const before = registry.requests.length;
      for (const part of parts) registry.spoil(part, fault, 1);
      const { log } = await start(old);
      for (const pool of pools) await untilOs(pool, 'rhel-9', old);
      await until(() => {
        expect(streams.of('cluster')).toEqual([buildStatus(old, 'rhel-9')]);
        expect(said.of('machine-config')).toMatchObject([{ status: 'False', reason: 'AsExpected' }]);
      });
      expect(log()).not.toContain('SLW_STREAM_SOURCE_FAILED');
      const requests = registry.requests.slice(before);
      const spoilt = requests.filter(({ isSpoilt }) => isSpoilt);
      expect(spoilt.map(({ part }) => part)).toEqual(parts);
      for (const { path, at } of spoilt) {
        const [, again, ...more] = requests.filter((each) => each.path === path);
        // A timer may fire slightly early by this clock.
        expect(again?.at).toBeGreaterThanOrEqual(at + rest - 10);
        expect(more).toEqual([]);
      }
    },
  );

  it('from the start: pools without an OS image say so, and are rendered when it succeeds', async () => {
    onTestFinished(() => registry.work());
    registry.spoil('manifest', refuse(503));
    const began = performance.now();
    await start(old);
    await untilPoolCondition('worker', 'RenderDegraded', { status: 'True', reason: 'OSImageMissing' });
    console.log(
      `RenderDegraded of a pool without an OS image: ${(performance.now() - began).toFixed(0)} ms after the start of the controllers`,
    );
    await untilCondition('operator', 'Degraded', { status: 'True', reason: 'OSImageStreamDegraded' });
    for (const pool of pools) expect((await cluster.pool(pool)).spec.configuration).toBeUndefined();
    registry.work();
    await untilRecovered('pools without an OS image are rendered', async () => {
      for (const pool of pools) await untilOs(pool, 'rhel-9', old);
      await untilPoolCondition('worker', 'RenderDegraded', { status: 'False' });
    });
  });

  it('for several images together is reported with the same message each time', async () => {
    onTestFinished(() => registry.work());
    await start(old);
    // The cluster is not Degraded before the first answer either.
    await untilStreams(streamNames, 'rhel-9');
    await untilCondition('operator', 'Degraded', { status: 'False' });
    const said = await watchFor(cluster.client, clusterOperators, degradedIn);
    const before = registry.requests.length;
    registry.spoil('config', refuse(404));
    await cluster.setRelease(next.releaseImage, '5.0.0');
    const tries = 6;
    const images = 2 * streamNames.length;
    await until(() => {
      const spoilt = registry.requests.slice(before).filter(({ isSpoilt }) => isSpoilt);
      expect(spoilt.length).toBeGreaterThan(tries * images);
    });
    expect(said.of('machine-config')).toMatchObject([{ status: 'False' }, { status: 'True' }]);
  });
});
