import { configMaps, machineConfigPools, osImageStreams, OS_IMAGES_CONFIG_MAP } from '@slipway/api';
import { machineConfigPool } from '@slipway/testing/builders';
import { createFakeGates } from '@slipway/testing/gates';
import { expect, it } from 'vitest';
import { createCluster } from '../testing/simulation/simulated-cluster.ts';
import { createRetryBackoff } from './options.ts';
import { poolStreamsController } from './pool-streams-controller.ts';
import { keepRegistry } from './registry.ts';

it('a failure is retried with a delay that doubles up to a limit', () => {
  const pace = createRetryBackoff({ firstMs: 5, mostMs: 30 });
  expect(pace.waitFor('a', 0)).toBe(0);
  expect([0, 5, 15, 35, 65].map((at) => pace.failed('a', at))).toEqual([5, 10, 20, 30, 30]);
  expect(pace.failures('a')).toBe(5);
  expect([65, 80, 95, 100].map((at) => pace.waitFor('a', at))).toEqual([30, 15, 0, 0]);
});

it('a registry that works again after a day is asked within a minute', () => {
  const pace = createRetryBackoff();
  const day = 24 * 60 * 60_000;
  let now = 0;
  while (now < day) now += pace.failed('a', now);
  expect(pace.failed('a', now)).toBe(60_000);
});

it('a changed input is tried immediately', () => {
  const pace = createRetryBackoff({ firstMs: 5, mostMs: 30 });
  pace.failed('a', 0);
  expect(pace.waitFor('b', 0)).toBe(0);
  expect(pace.failed('b', 0)).toBe(5);
  pace.succeeded();
  expect(pace.waitFor('b', 0)).toBe(0);
});

const NAMESPACE = 'ours';
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;

/** In virtual time, without a registry. */
function startPoolStreams() {
  const registry = () => {
    throw new Error('no registry may be called');
  };
  const options = { namespace: NAMESPACE, controllerVersion: '1', registry, gates: createFakeGates() };
  const { api, time } = createCluster({
    seed: 1,
    controllers: () => [poolStreamsController(options, keepRegistry(registry))],
    lagMs: () => 5,
  });
  return {
    api,
    aSecond: () => time.runUntil(time.now() + 1000),
    annotations: (pool: string) => api.get(machineConfigPools, { name: pool }).metadata.annotations ?? {},
  };
}

it('a pool without an OS image reports it within a second, until the image is known', async () => {
  const { api, aSecond, annotations } = startPoolStreams();
  // An OS image without its extensions image is no stream.
  api.create(configMaps, {
    metadata: { name: OS_IMAGES_CONFIG_MAP, namespace: NAMESPACE },
    data: { baseOSContainerImage: `quay.io/os@${digest('a')}` },
  });
  for (const name of ['worker', 'infra']) api.create(machineConfigPools, machineConfigPool(name));
  await aSecond();
  for (const name of ['worker', 'infra']) {
    expect(annotations(name)['slipway.dev/os-image-stream-problem']).toMatch(
      new RegExp(
        `SLW_STREAM_NO_IMAGE.*MachineConfigPool ${name}: expected an OS image, found none: OSImageStream cluster`,
      ),
    );
  }
  const rhel9 = {
    name: 'rhel-9',
    osImage: `quay.io/os@${digest('a')}`,
    osExtensionsImage: `quay.io/os@${digest('b')}`,
  };
  api.create(osImageStreams, { metadata: { name: 'cluster' }, spec: { defaultStream: 'rhel-9' } });
  const status = { defaultStream: 'rhel-9', availableStreams: [rhel9] };
  api.patch(osImageStreams, { name: 'cluster' }, { type: 'merge', body: { status } }, {}, 'status');
  await aSecond();
  for (const name of ['worker', 'infra']) {
    expect(annotations(name)).toMatchObject({ 'slipway.dev/os-image-stream': 'rhel-9' });
    expect(annotations(name)).not.toHaveProperty(['slipway.dev/os-image-stream-problem']);
  }
});

it('a pool of a fleet whose last source of streams is removed reports no missing image', async () => {
  const { api, aSecond, annotations } = startPoolStreams();
  const metadata = { name: OS_IMAGES_CONFIG_MAP, namespace: NAMESPACE };
  api.create(configMaps, { metadata, data: { baseOSContainerImage: `quay.io/os@${digest('a')}` } });
  api.create(machineConfigPools, machineConfigPool('worker'));
  await aSecond();
  expect(annotations('worker')).toHaveProperty(['slipway.dev/os-image-stream-problem']);
  api.delete(configMaps, metadata);
  await aSecond();
  expect(annotations('worker')).not.toHaveProperty(['slipway.dev/os-image-stream-problem']);
});
