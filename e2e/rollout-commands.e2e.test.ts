import {
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodeAnnotations,
  nodes,
  rolloutRequestAnnotation,
  stopRolloutsAnnotation,
} from '@slipway/api';
import { type InProcessCommand, runInProcess } from '@slipway/slipway/testing/in-process';
import { configWithFile, machineConfig, node } from '@slipway/testing/builders';
import { waitForExit, runSlipway, startSlipway, type RunningProcess } from '@slipway/testing/slipway-process';
import { addReadyNode, obeyDesiredConfig } from '@slipway/testing/stand-in-kubelet';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findPool, type Fleet, renderedWith, startFleet } from './render/fleet.ts';

// The controllers run as a separate process, and each command does so once. The machines are Node objects that follow their
// desired config when a test asks them to.
let fleet: Fleet;
let controller: RunningProcess;
let old = '';
let renewed = '';

const workers = ['worker-a', 'worker-b', 'worker-c'] as const;

const command = (name: InProcessCommand, ...args: string[]) =>
  runInProcess(name, ...args, '--kubeconfig', fleet.controlPlane.kubeconfig);
/** As a separate process. */
const commandAsProcess = (...args: string[]) => runSlipway(...args, '--kubeconfig', fleet.controlPlane.kubeconfig);

/** The output of a command with -o json. */
async function shown(name: InProcessCommand, ...args: string[]): Promise<unknown> {
  const { code, out, err } = await command(name, ...args, '-o', 'json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as unknown;
}

async function readAnnotations(name: string): Promise<Record<string, string>> {
  return (await fleet.admin.get(nodes, { name })).metadata.annotations ?? {};
}

const readDesired = async (name: string): Promise<string | undefined> =>
  (await readAnnotations(name))[nodeAnnotations.desiredConfig];

/** The workers whose desired config is this one. */
async function listAssigned(config: string): Promise<string[]> {
  const desired = await Promise.all(workers.map(readDesired));
  return workers.filter((_, index) => desired[index] === config);
}

const annotateNode = (name: string, annotations: Record<string, string>) =>
  fleet.admin.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations } } }, {});

async function addWorker(name: string, config: string): Promise<void> {
  await addReadyNode(fleet.admin, node(name));
  await annotateNode(name, { [nodeAnnotations.currentConfig]: config, [nodeAnnotations.state]: 'Done' });
}

/** Waits for the Updating condition, after the controller has observed the current spec. */
const updating = (expected: object): Promise<void> =>
  until(async () => {
    const pool = await findPool(fleet.admin, 'worker');
    expect(pool?.status?.observedGeneration).toBe(pool?.metadata.generation);
    expect(pool?.status?.conditions?.find(({ type }) => type === 'Updating')).toMatchObject(expected);
  });

/** All machines follow their desired config until every one has this config. */
const untilAllHave = (config: string): Promise<void> =>
  until(async () => {
    for (const name of workers) await obeyDesiredConfig(fleet.admin, name);
    const pool = await findPool(fleet.admin, 'worker');
    expect(pool?.status).toMatchObject({ configuration: { name: config }, updatedMachineCount: workers.length });
    expect(pool?.status?.conditions?.find(({ type }) => type === 'Updated')).toMatchObject({ status: 'True' });
  });

/** History sorts rendered configs by creation time, which the API server records in whole seconds. */
const untilLaterThan = (second: string): Promise<void> =>
  until(() => expect(Date.now()).toBeGreaterThan(Date.parse(second) + 1000));

beforeAll(async () => {
  fleet = await startFleet();
  controller = await fleet.controller();
  const { metadata } = await renderedWith(fleet.admin, 'worker', '00-worker');
  old = metadata.name;
  for (const name of workers) await addWorker(name, old);
  await untilAllHave(old);
  await untilLaterThan(metadata.creationTimestamp ?? '');
}, 120_000);
afterAll(() => fleet.stop());

describe('slipway pause and resume', () => {
  it('a paused pool assigns no config; status and why report that', async () => {
    expect(await shown('pause', 'worker')).toMatchObject({ action: 'pause', pool: 'worker', changed: true });
    await fleet.admin.create(
      machineConfigs,
      machineConfig('50-motd', 'worker', { config: configWithFile('/etc/motd', 'hi\n') }),
    );
    renewed = (await renderedWith(fleet.admin, 'worker', '50-motd')).metadata.name;
    await updating({ status: 'False', reason: 'Paused' });
    expect(await listAssigned(renewed)).toEqual([]);
    expect(await shown('status', 'worker')).toMatchObject({
      pools: [{ name: 'worker', phase: 'paused', isPaused: true, target: renewed, machines: { total: 3, updated: 0 } }],
    });
    expect(await shown('why', 'worker-b')).toMatchObject({
      pool: 'worker',
      phase: 'waiting',
      current: old,
      target: renewed,
      wayOut: [expect.stringContaining('slipway resume worker')],
    });
  });

  it('a resumed pool starts with its canary; status shows the wave, why the recorded reason', async () => {
    expect(await shown('resume', 'worker')).toMatchObject({ action: 'resume', changed: true });
    await until(async () => expect(await listAssigned(renewed)).toHaveLength(1));
    const [canary = ''] = await listAssigned(renewed);
    await annotateNode(canary, { [nodeAnnotations.state]: 'Working' });
    expect(await shown('status', 'worker')).toMatchObject({
      pools: [{ phase: 'updating', wave: { number: 1, of: 2, size: 1 }, machines: { unavailable: 1 } }],
    });
    expect(await shown('why', canary)).toMatchObject({
      phase: 'updating',
      desired: renewed,
      given: { at: expect.any(String) },
    });
    const { out } = await command('status', 'worker');
    expect(out).toMatch(new RegExp(`${canary} +updating`));
    expect(out).not.toContain('\u001b');
  });

  it('pause --all stops every pool within one reconcile, and resume --all continues', async () => {
    const stopped = await commandAsProcess('pause', '--all', '--reason', 'storage maintenance');
    expect(stopped.out).toMatch(/^All rollouts are stopped: storage maintenance\./);
    const settings = await fleet.admin.get(machineConfigurations, { name: 'cluster' });
    expect(settings.metadata.annotations).toMatchObject({ [stopRolloutsAnnotation]: 'storage maintenance' });
    for (const name of workers) await obeyDesiredConfig(fleet.admin, name);
    await updating({ status: 'False', reason: 'RolloutsStopped', message: expect.stringContaining('1 of 3') });
    expect(await listAssigned(renewed)).toHaveLength(1);
    expect(await shown('status')).toMatchObject({ stopped: 'storage maintenance' });

    expect(await shown('resume', '--all')).toMatchObject({ pool: null, changed: true });
    await until(async () => expect(await listAssigned(renewed)).toHaveLength(2));
  });
});

describe('slipway cancel and rollback', () => {
  it('cancel rolls assigned machines back and reports how to continue', async () => {
    const { code, out } = await commandAsProcess('cancel', 'worker');
    expect(code).toBe(0);
    expect(out).toContain(`now targets ${old}`);
    expect(out).toContain('slipway resume worker');
    expect(await shown('status', 'worker')).toMatchObject({
      pools: [{ target: old, newest: renewed, hold: { kind: 'cancel' } }],
    });
    await untilAllHave(old);
    expect(await listAssigned(renewed)).toEqual([]);
  });

  it('a paused and held pool is only unpaused at first: its machines stay at the config of the cancel', async () => {
    await command('pause', 'worker');
    const { out } = await command('resume', 'worker');
    expect(out).toContain('Pool worker is no longer paused.');
    expect(out).toContain(`It is still held at ${old}; run slipway resume worker again to end that.`);
    expect(await shown('status', 'worker')).toMatchObject({ pools: [{ isPaused: false, hold: { kind: 'cancel' } }] });
  });

  it('a refused request is an error with the controller’s reason', async () => {
    const { code, err } = await command('cancel', 'worker');
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: cancel of pool worker was refused: .* \[SLW_CLI_REFUSED\]\n$/);
  });

  it('resume ends the hold: the newest config is rolled out to all', async () => {
    const { out } = await commandAsProcess('resume', 'worker');
    expect(out).toContain(renewed);
    await untilAllHave(renewed);
  });

  it('history shows each rollout, how it ended and what it changed', async () => {
    const report = (await shown('history', 'worker')) as { rollouts: object[]; configs: object[] };
    expect(report.rollouts[0]).toMatchObject({
      config: renewed,
      outcome: 'completed',
      nodes: 3,
      changes: {
        machineConfigs: [{ name: '50-motd', change: 'added' }],
        items: [{ noun: 'file', name: '/etc/motd', change: 'added' }],
      },
    });
    expect(report.rollouts).toContainEqual(expect.objectContaining({ config: old, outcome: 'cancelled' }));
    expect(report.configs).toMatchObject([
      { name: renewed, isTarget: true, before: old },
      { name: old, isTarget: false },
    ]);
    const { out } = await command('history', 'worker');
    expect(out).toContain('MachineConfigs: + 50-motd');
    expect(out).toContain('+ file /etc/motd');
  });

  it('rollback accepts the first characters of a hash', async () => {
    const hash = old.slice(old.lastIndexOf('-') + 1);
    expect(await shown('rollback', 'worker', '--to', hash.slice(0, 8))).toMatchObject({
      action: 'rollback',
      message: expect.stringContaining(`now targets ${old}`),
    });
    await untilAllHave(old);
    const report = (await shown('history', 'worker')) as { rollouts: object[] };
    expect(report.rollouts[0]).toMatchObject({ config: old, from: renewed, outcome: 'rolled back' });
    const unknown = await command('rollback', 'worker', '--to', 'xyz');
    expect(unknown).toMatchObject({
      code: 1,
      err: expect.stringMatching(/slipway history worker.*\[SLW_CLI_NO_CONFIG\]/),
    });
  });
});

describe('slipway status --watch', () => {
  it('prints one line per change in a pipe, and exits with 0 on Ctrl-C', async () => {
    const watching = startSlipway('status', 'worker', '--watch', '--kubeconfig', fleet.controlPlane.kubeconfig);
    const documents = startSlipway(
      'status',
      'worker',
      '--watch',
      '-o',
      'json',
      '--kubeconfig',
      fleet.controlPlane.kubeconfig,
    );
    onTestFinished(() => {
      watching.child.kill('SIGINT');
      documents.child.kill('SIGINT');
    });
    await watching.saw(/worker: updated: All machines/);
    await documents.saw(/"name":"worker","phase":"updated"/);
    await command('resume', 'worker');
    // One report may skip several steps, but the machine keeps its config until it follows the desired one.
    await watching.saw(/worker\/worker-[abc]: \w+ → updating/);
    await documents.saw(/"name":"worker","phase":"updating"/);
    await untilAllHave(renewed);
    await watching.saw(/worker\/worker-[abc]: updating → updated\n/);
    await watching.saw(/worker: updated: All machines[^]*worker: updated: All machines/);
    await documents.saw(/"phase":"updating"[^]*"name":"worker","phase":"updated"/);
    watching.child.kill('SIGINT');
    documents.child.kill('SIGINT');
    expect(await waitForExit(watching)).toMatchObject({ code: 0, err: '' });
    const { code, out } = await waitForExit(documents);
    expect(code).toBe(0);
    const reports = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { pools: { name: string }[] });
    expect(reports.length).toBeGreaterThan(2);
    expect(reports.every(({ pools }) => pools.some(({ name }) => name === 'worker'))).toBe(true);
  });
});

describe('unknown names', () => {
  it('are a one-line error with similar names', async () => {
    expect(await command('pause', 'wroker')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^slipway: the cluster has no MachineConfigPool wroker\. Did you mean worker\? \[SLW_CLI_NO_POOL\]\n$/,
      ),
    });
    expect(await command('status', 'wroker')).toMatchObject({ code: 1, out: '', thrown: 'SLW_CLI_NO_POOL' });
    expect(await command('why', 'worker-aa')).toMatchObject({
      thrown: 'SLW_CLI_NO_NODE',
      err: expect.stringContaining('Did you mean worker-a'),
    });
  });
});

describe('without a controller', () => {
  beforeAll(async () => {
    await controller.stop();
  });

  const readRequest = async (): Promise<string | undefined> =>
    (await fleet.admin.get(machineConfigPools, { name: 'worker' })).metadata.annotations?.[rolloutRequestAnnotation];

  it('an unanswered request stays on the pool, and the command reports that', async () => {
    const { code, out, err } = await command('rollback', 'worker', '--wait', '1');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/no controller has answered.*kubectl annotate.*\[SLW_CLI_NO_ANSWER\]/);
    expect(await readRequest()).toBe('rollback');
    expect((await command('status', 'worker')).out).toContain('requested, not answered yet: rollback');
  });

  it('a request that another client removes ends the wait', async () => {
    const asking = startSlipway('rollback', 'worker', '--wait', '60', '--kubeconfig', fleet.controlPlane.kubeconfig);
    await asking.saw(/Ctrl-C withdraws the request/);
    const body = { metadata: { annotations: { [rolloutRequestAnnotation]: null } } };
    await fleet.admin.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {});
    expect(await waitForExit(asking)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/another client removed it.*\[SLW_CLI_NO_ANSWER\]/),
    });
  });

  it('Ctrl-C withdraws the request', async () => {
    const asking = startSlipway('rollback', 'worker', '--kubeconfig', fleet.controlPlane.kubeconfig);
    await asking.saw(/Ctrl-C withdraws the request/);
    expect(await readRequest()).toBe('rollback');
    asking.child.kill('SIGINT');
    expect(await waitForExit(asking)).toMatchObject({ code: 130, err: expect.stringContaining('was withdrawn') });
    expect(await readRequest()).toBeUndefined();
  });
});
