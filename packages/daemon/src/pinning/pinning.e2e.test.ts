import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildCrd,
  machineConfigNodeKind,
  machineConfigNodes,
  nodes,
  pinnedImageSetKind,
  pinnedImageSets,
} from '@slipway/api';
import { pinAssignmentAnnotation } from '@slipway/api/names';
import { encodeAssignment } from '@slipway/fleet';
import { type Client, createRecorder, createMetrics, silentLog } from '@slipway/kube';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import { connectToShared } from '@slipway/testing/control-plane';
import { installCrd } from '@slipway/testing/resources';
import { runControllers, type RunningControllers, watchWrites } from '@slipway/testing/run-controllers';
import { until } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, startDaemon } from '../daemon.ts';
import { DROP_IN } from '../host/cri/cri-o.ts';
import { createDisk } from '../host/disk.ts';
import { type FileSystem, readText } from '../host/file-system.ts';
import { buildImageName } from './testing/sample-sets.ts';

let client: Client;
let writes: string[];
let name: string;
let root: string;
let files: FileSystem;
let daemon: Daemon;
let running: RunningControllers;

beforeAll(async () => {
  client = await connectToShared();
  for (const kind of [machineConfigNodeKind, pinnedImageSetKind]) await installCrd(client, buildCrd(kind));
});
afterAll(() => client.transport.close());

beforeEach(async () => {
  name = `pinning-${randomBytes(4).toString('hex')}`;
  writes = [];
  await client.create(nodes, { metadata: { name } });
  const ready = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  await client.patch(nodes, { name }, { type: 'merge', body: ready }, {}, { subresource: 'status' });
  await client.create(machineConfigNodes, {
    metadata: { name },
    spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-1' } },
  });
  root = await mkdtemp(join(tmpdir(), 'slipway-pinning-'));
  files = createDisk({ root });
  await makeSimulatedMachine(files);
  const metrics = createMetrics();
  const log = silentLog();
  const host = createSimulatedHost({ root });
  daemon = await startDaemon({ host, root, nodeName: name, programVersion: 'test', log, metrics, pinSpreadMs: 0 });
  const events = createRecorder(client, { component: 'machine-config-daemon', log });
  const counted = watchWrites(client, (write) => writes.push(write));
  const controllers = daemon.controllers(counted, events).filter((controller) => controller.name === 'pinning');
  running = runControllers(counted, controllers, { log, metrics, events, stopBoundMs: 20_000 });
});
afterEach(async () => {
  await running.stop();
  await daemon.stop();
  await client.delete(nodes, { name }, {});
  await client.delete(machineConfigNodes, { name }, {});
  await rm(root, { recursive: true });
});

const makeSet = (words: readonly string[], set = name) =>
  client.create(pinnedImageSets, {
    metadata: { name: set },
    spec: { pinnedImages: words.map((word) => ({ name: buildImageName(word) })) },
  });

/** Does what the controller does. */
async function assign(...names: string[]): Promise<void> {
  const found = await Promise.all(names.map((set) => client.get(pinnedImageSets, { name: set })));
  const sets = found.map(({ metadata }) => ({
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 1,
  }));
  const text = encodeAssignment({ sets, mayPull: true, parallel: 3 });
  const body = { metadata: { annotations: { [pinAssignmentAnnotation]: text } } };
  await client.patch(machineConfigNodes, { name }, { type: 'merge', body }, {});
}

const status = async () => (await client.get(machineConfigNodes, { name })).status;
const condition = async (type: string) => (await status())?.conditions?.find((each) => each.type === type);
const isThrough = () =>
  until(async () => {
    const progressing = await condition('PinnedImageSetsProgressing');
    expect(progressing).toMatchObject({ status: 'False', reason: 'AsExpected' });
    expect(progressing?.message).not.toBe('');
  });
const dropIn = () => readText(files, DROP_IN, 1_000_000);

describe('the daemon of a node with pinned images', () => {
  it('pulls and pins its assigned images, in three status writes at most, and unpins them', async () => {
    await makeSet(['a', 'b', 'c']);
    await assign(name);
    await isThrough();
    expect(await dropIn()).toContain(buildImageName('c'));
    expect((await status())?.pinnedImageSets).toEqual([{ name, desiredGeneration: 1, currentGeneration: 1 }]);
    const written = writes.filter((write) => write === `patch MachineConfigNode/status ${name}`).length;
    expect(written).toBeGreaterThan(0);
    expect(written).toBeLessThanOrEqual(3);
    expect(await running.metrics()).toContain('slipway_pinned_images{state="present"} 3');
    expect(await running.metrics()).toContain('slipway_pin_pulls_total{result="ok"} 3');

    await assign();
    await until(async () => expect(await status()).not.toHaveProperty('pinnedImageSets'));
    expect(await dropIn()).toBeUndefined();
    await client.delete(pinnedImageSets, { name }, {});
  });

  it('follows a set that was deleted and recreated, whose generations start again', async () => {
    await makeSet(['a']);
    const spec = { pinnedImages: [{ name: buildImageName('b') }] };
    await client.patch(pinnedImageSets, { name }, { type: 'merge', body: { spec } }, {});
    await assign(name);
    await isThrough();
    expect((await status())?.pinnedImageSets).toEqual([{ name, desiredGeneration: 2, currentGeneration: 2 }]);

    await client.delete(pinnedImageSets, { name }, {});
    await makeSet(['d']);
    await assign(name);
    await until(async () => {
      expect((await status())?.pinnedImageSets).toEqual([{ name, desiredGeneration: 1, currentGeneration: 1 }]);
    });
    expect(await dropIn()).toContain(buildImageName('d'));
    await client.delete(pinnedImageSets, { name }, {});
  });
});
