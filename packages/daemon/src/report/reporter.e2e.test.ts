import { randomBytes } from 'node:crypto';
import { crdOf, machineConfigNodeKind, machineConfigNodes, nodeAnnotations, nodes } from '@slipway/api';
import {
  type Client,
  createClient,
  createMetrics,
  createRecorder,
  createTransport,
  isKubeError,
  type KubeObject,
  loadKubeconfig,
  type Recorder,
  type Resource,
  silentLog,
} from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { createDaemonMetrics } from './metrics.ts';
import { createReporter, type Reporter } from './reporter.ts';
import type { NodeSnapshot } from './snapshot.ts';

const cluster = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: false,
});
const crds = cluster('apiextensions.k8s.io', 'CustomResourceDefinition', 'customresourcedefinitions');
const apiEvents: Resource<KubeObject & { reason: string }> = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

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
  client = createClient(createTransport(await loadKubeconfig([inject('kubeconfig')])));
  await client.create(crds, crdOf(machineConfigNodeKind)).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  });
  await until(() => client.list(machineConfigNodes).next());
});
afterAll(() => client.transport.close());

beforeEach(async () => {
  name = `reporter-${randomBytes(4).toString('hex')}`;
  writes = [];
  await client.create(nodes, { metadata: { name, annotations: { 'example.com/kept': 'yes' } } });
  const log = silentLog();
  events = createRecorder(client, { component: 'machine-config-daemon', log });
  const seen = new Set<object>();
  // A guard is asked twice about one write: when it is decided, and when its bytes leave.
  const counted = client.guarded((attempt) => {
    if (!seen.has(attempt)) writes.push(`${attempt.verb} ${attempt.resource.kind}`);
    seen.add(attempt);
  });
  reporter = createReporter({
    client: counted,
    events,
    nodeName: name,
    log,
    metrics: createDaemonMetrics(createMetrics()),
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
  const reasons: string[] = [];
  const fieldSelector = `involvedObject.name=${name}`;
  for await (const { reason } of client.list(apiEvents, { namespace: 'default', fieldSelector })) reasons.push(reason);
  return reasons.sort();
}

describe('a reporter', () => {
  it('tells Node and MachineConfigNode what the node does, and writes nothing where they say it already', async () => {
    await makeRecord();
    await reporter.report(idle);
    const node = await client.get(nodes, { name });
    expect(node.metadata.annotations).toEqual({
      'example.com/kept': 'yes',
      [nodeAnnotations.currentConfig]: 'rendered-worker-1',
      [nodeAnnotations.state]: 'Done',
      [nodeAnnotations.reason]: '',
    });
    const { status } = await client.get(machineConfigNodes, { name });
    expect(status?.configVersion).toEqual({ current: 'rendered-worker-1', desired: 'rendered-worker-1' });
    expect(status?.conditions).toHaveLength(17);
    expect(writes).toEqual(['patch Node', 'patch MachineConfigNode']);
    await reporter.report(idle);
    expect(writes).toHaveLength(2);
    expect(await recorded()).toEqual(['NodeDone']);
  });

  it('goes through an update, with what users look for at each step', async () => {
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

  it('says what a machine cannot become, and forgets it when it is over', async () => {
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

  it('leaves the record out until the controller has made it', async () => {
    await reporter.report(idle);
    expect(writes).toEqual(['patch Node']);
    await makeRecord();
    await reporter.report(idle);
    expect(writes).toEqual(['patch Node', 'patch MachineConfigNode']);
  });

  it('records drift by its name', async () => {
    reporter.event('ConfigDriftDetected', 'file /etc/a differs');
    expect(await recorded()).toEqual(['ConfigDriftDetected']);
  });
});
