import { randomBytes } from 'node:crypto';
import {
  buildCrd,
  machineConfigNodeKind,
  machineConfigNodes,
  nodeAnnotations,
  nodes,
  osAbilityAnnotation,
  reportedConfigAnnotation,
} from '@slipway/api';
import { type Client, createMetrics, createRecorder, KubeError, type Recorder, silentLog } from '@slipway/kube';
import { connectToShared } from '@slipway/testing/control-plane';
import { installCrd, listEvents } from '@slipway/testing/resources';
import { watchWrites } from '@slipway/testing/run-controllers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDaemonMetrics } from './metrics.ts';
import { createReporter, type Reporter } from './reporter.ts';
import type { NodeSnapshot } from './snapshot.ts';

const idle: NodeSnapshot = {
  currentConfig: 'rendered-worker-1',
  desiredConfig: 'rendered-worker-1',
  phase: 'idle',
  update: null,
  problem: null,
  desiredDrain: null,
  irreconcilable: [],
};

let client: Client;
let writes: string[];
let events: Recorder;
let reporter: Reporter;
let name: string;

beforeAll(async () => {
  client = await connectToShared();
  await installCrd(client, buildCrd(machineConfigNodeKind));
});
afterAll(() => client.transport.close());

beforeEach(async () => {
  name = `reporter-${randomBytes(4).toString('hex')}`;
  writes = [];
  await client.create(nodes, { metadata: { name, annotations: { 'example.com/kept': 'yes' } } });
  const log = silentLog();
  events = createRecorder(client, { component: 'machine-config-daemon', log });
  reporter = createReporter({
    client: watchWrites(client, (write) => writes.push(write)),
    events,
    nodeName: name,
    log,
    metrics: createDaemonMetrics(createMetrics()),
    osAbility: 'none',
  });
  return () => client.delete(nodes, { name }, {});
});

const makeRecord = () =>
  client.create(machineConfigNodes, {
    metadata: { name },
    spec: { node: { name }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-1' } },
  });

async function recorded(): Promise<string[]> {
  await events.flush();
  return (await listEvents(client, { name })).map(({ reason }) => reason).toSorted();
}

describe('a reporter', () => {
  it('updates Node and MachineConfigNode, and writes nothing if they are up to date', async () => {
    await makeRecord();
    await reporter.report(idle);
    const node = await client.get(nodes, { name });
    expect(node.metadata.annotations).toEqual({
      'example.com/kept': 'yes',
      [nodeAnnotations.currentConfig]: 'rendered-worker-1',
      [reportedConfigAnnotation]: 'rendered-worker-1',
      [osAbilityAnnotation]: 'none',
      [nodeAnnotations.state]: 'Done',
      [nodeAnnotations.reason]: '',
    });
    const { status } = await client.get(machineConfigNodes, { name });
    expect(status?.configVersion).toEqual({ current: 'rendered-worker-1', desired: 'rendered-worker-1' });
    expect(status?.conditions).toHaveLength(17);
    expect(writes).toEqual([`patch Node ${name}`, `patch MachineConfigNode/status ${name}`]);
    await reporter.report(idle);
    expect(writes).toHaveLength(2);
    expect(await recorded()).toEqual(['NodeDone']);
  });

  it('reports the state also where the policies are those of a version without the ability of the OS', async () => {
    const older: Client = {
      ...client,
      patch(resource, target, patch, ...rest) {
        if (!JSON.stringify(patch).includes(osAbilityAnnotation)) return client.patch(resource, target, patch, ...rest);
        throw new KubeError('SLW_KUBE_FORBIDDEN', 'a machine may not write os-ability', { status: 403 });
      },
    };
    await createReporter({ client: older, events, nodeName: name, log: silentLog(), osAbility: 'none' }).report(idle);
    const { annotations } = (await client.get(nodes, { name })).metadata;
    expect(annotations).toMatchObject({ [nodeAnnotations.state]: 'Done' });
    expect(annotations).not.toHaveProperty([osAbilityAnnotation]);
  });

  it('follows an update, with the conditions that users expect at each step', async () => {
    await makeRecord();
    const update = { target: 'rendered-worker-2', drain: true, os: false, image: false, reboot: true, postAction: '' };
    const working = { ...idle, desiredConfig: 'rendered-worker-2', update };
    await reporter.report({ ...working, phase: 'draining', desiredDrain: 'drain-rendered-worker-2' });
    await reporter.report({ ...working, phase: 'rebooting' });
    const there = { ...working, currentConfig: 'rendered-worker-2' };
    await reporter.report({ ...there, phase: 'uncordoning', desiredDrain: 'uncordon-rendered-worker-2' });
    await reporter.report({ ...there, phase: 'idle', update: null });
    const { status } = await client.get(machineConfigNodes, { name });
    expect(status?.conditions?.filter((condition) => condition.status === 'True')).toMatchObject([{ type: 'Updated' }]);
    expect(await recorded()).toEqual(['Drain', 'NodeDone', 'Reboot', 'Uncordon']);
  });

  it('reports irreconcilable changes, and removes them when they are over', async () => {
    await makeRecord();
    const change = { code: 'SLW_UPDATE_IRRECONCILABLE', field: 'spec.fips', before: 'false', after: 'true' } as const;
    const problem = { state: 'Unreconcilable', code: change.code, message: 'FIPS mode' } as const;
    await reporter.report({ ...idle, problem, irreconcilable: [{ ...change, message: 'FIPS mode' }] });
    const { status } = await client.get(machineConfigNodes, { name });
    expect(status?.irreconcilableChanges).toEqual([{ fieldPath: 'spec.fips', diff: 'spec.fips: false → true' }]);
    await reporter.report(idle);
    expect((await client.get(machineConfigNodes, { name })).status).not.toHaveProperty('irreconcilableChanges');
    expect(await recorded()).toEqual(['FailedToReconcile', 'NodeDone']);
  });

  it('skips the MachineConfigNode until the controller has created it', async () => {
    await reporter.report(idle);
    expect(writes).toEqual([`patch Node ${name}`]);
    await makeRecord();
    await reporter.report(idle);
    expect(writes).toEqual([`patch Node ${name}`, `patch MachineConfigNode/status ${name}`]);
  });

  it('records drift as an event', async () => {
    reporter.event('ConfigDriftDetected', 'file /etc/a differs');
    expect(await recorded()).toEqual(['ConfigDriftDetected']);
  });
});
