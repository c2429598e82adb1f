// The start of the OS image stream tests: a cluster, two releases of its platform, and helpers to check the results.
import { until } from '@slipway/testing/wait';
import { type Payload, pushPayload, type StreamSpec } from '@slipway/tools/registry';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import {
  type Running,
  type ControllerRunOptions,
  startStreamsCluster,
  type StreamsCluster,
  type RegistryRoute,
} from './streams-cluster.ts';

export const STREAM = 'slipway.dev/os-image-stream';
const DIGEST = 'slipway.dev/stream-sources';

export const rhel9: StreamSpec = { tag: 'rhel-coreos', name: 'rhel-9', version: '9.6.20251201-1' };
export const rhel10: StreamSpec = { tag: 'rhel-coreos-10', name: 'rhel-10', version: '10.1.20251202-0' };

export let cluster: StreamsCluster;
/** Platform 4.22: rhel-9 is the default. */
export let old: Payload;
/** Platform 5.0 with newer images of both streams: rhel-10 is the default. */
export let next: Payload;
const running: Running[] = [];

/** For the top of a test file. */
export function useStreamsCluster(way?: RegistryRoute): void {
  beforeAll(async () => {
    cluster = await startStreamsCluster(way);
    old = await pushPayload(cluster.registry, { version: '4.22.0', streams: [rhel9, rhel10] });
    next = await pushPayload(cluster.registry, {
      version: '5.0.0',
      streams: [
        { ...rhel9, version: '9.8.20260601-0' },
        { ...rhel10, version: '10.2.20260601-0' },
      ],
    });
  });
  afterAll(() => cluster?.stop());
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
    await cluster.clear();
  });
}

export function run(wish?: ControllerRunOptions): Running {
  const started = cluster.run(wish);
  running.push(started);
  return started;
}

export const findOsImage = (payload: Payload, name: string): string => payload.os.get(name)?.osImage ?? 'none';

/** Pools as a cluster has them. */
export async function start(payload: Payload, wish?: ControllerRunOptions): Promise<Running> {
  await cluster.addPool('master');
  await cluster.addPool('worker');
  await cluster.setRelease(payload.releaseImage);
  return run(wish);
}

export const untilStreams = (names: readonly string[], defaultStream: string) =>
  until(async () => {
    const { status, metadata } = (await cluster.streams()) ?? {};
    expect(status).toMatchObject({ defaultStream, availableStreams: names.map((name) => ({ name })) });
    expect(metadata?.annotations?.[DIGEST]).toBeDefined();
  });

/** The pool is rendered with the OS of that stream of that payload, and reports it. */
export const untilOs = (pool: string, name: string, payload: Payload) =>
  until(async () => {
    expect(await cluster.renderedOs(pool)).toEqual({ image: findOsImage(payload, name), stream: name });
    expect((await cluster.pool(pool)).metadata.annotations).toMatchObject({ [STREAM]: name });
  });

export const untilRuns = (pool: string, name: string | undefined) =>
  until(async () => expect((await cluster.pool(pool)).status?.osImageStream?.name).toBe(name));

export const poolCondition = async (pool: string, type: string) =>
  (await cluster.pool(pool)).status?.conditions?.find((each) => each.type === type);
export const untilPoolCondition = (pool: string, type: string, wanted: object) =>
  until(async () => expect(await poolCondition(pool, type)).toMatchObject(wanted));
export const untilCondition = (of: 'operator' | 'version', type: string, wanted: object) =>
  until(async () => expect(await cluster.condition(of, type)).toMatchObject(wanted));

export const untilEvent = (name: string, text: RegExp) =>
  until(async () => expect(await cluster.eventsOf(name)).toContainEqual(expect.stringMatching(text)));
