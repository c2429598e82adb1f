import { nodeAnnotations } from '@slipway/api/names';
import { createManualClock } from '@slipway/testing/manual-clock';
import { printRecovery } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { file, named, withFiles } from '../apply/testing/small-machine.ts';
import type { UpdateResult } from '../apply/updater.ts';
import { ownOwners } from '../host/file-system.ts';
import { OSFailure } from '../host/os/os-commands.ts';
import { type Around, aroundCalls } from '../host/testing/calls.ts';
import { FORCE_FILE, NODE_ANNOTATIONS, UPDATE_DIRECTORY, writeStateFile } from '../state-file.ts';
import { applyDrain, desire, type NodeInCluster, nodeInCluster } from './testing/node-in-cluster.ts';

const a = named('a', withFiles());
const b = named('b', withFiles(file('/etc/app.conf', 'b\n')));
const c = named('c', withFiles(file('/etc/app.conf', 'c\n')));
const done = { type: 'done' };

const buildPolicy = (...types: ('None' | 'Drain')[]) => ({
  nodeDisruptionPolicy: { files: [{ path: '/', actions: types.map((type) => ({ type })) }] },
});

async function nodeAt(current = a): Promise<NodeInCluster> {
  const node = await nodeInCluster({ current });
  node.settings = buildPolicy('None');
  desire(node, current);
  expect(await node.settle()).toEqual(done);
  node.told.length = 0;
  return node;
}

describe('a node', () => {
  it('at its desired config reports that once, and is watched', async () => {
    const node = await nodeInCluster({ current: a });
    desire(node, a);
    expect(await node.settle()).toEqual(done);
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual(['rendered-worker-a: idle']);
    expect(node.local.memory()).toEqual({ reported: 'rendered-worker-a' });
  });

  it('reports the drift that the watch found, and clears it', async () => {
    const node = await nodeAt();
    node.drift.found = '/etc/app.conf was changed';
    await node.settle();
    node.drift.found = '';
    await node.settle();
    expect(node.told).toEqual(['rendered-worker-a: idle, Degraded SLW_DAEMON_DRIFT', 'rendered-worker-a: idle']);
  });

  it('is updated to another config, step by step', async () => {
    const node = await nodeAt();
    desire(node, b);
    expect(await node.step()).toEqual({ type: 'again', afterMs: 0 });
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-b',
      'rendered-worker-a: applying files, update to rendered-worker-b',
      'rendered-worker-a: applying files, update to rendered-worker-b',
      'rendered-worker-a: verifying, update to rendered-worker-b',
      'rendered-worker-b: resumed, update to rendered-worker-b',
      'rendered-worker-b: idle',
    ]);
    expect(node.drift.calls).toEqual(['pause', 'resume rendered-worker-b']);
    expect(node.local.current()?.name).toBe('rendered-worker-b');
    expect(node.local.memory()).toEqual({ reported: 'rendered-worker-b', lacks: [] });
  });

  it('waits for its drain, and requests to be uncordoned', async () => {
    const node = await nodeAt();
    node.settings = buildPolicy('Drain');
    desire(node, b);
    expect(await node.settle()).toEqual(done);
    expect(await node.settle()).toEqual(done);
    applyDrain(node);
    expect(await node.settle()).toEqual(done);
    applyDrain(node);
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-b',
      'rendered-worker-a: draining, update to rendered-worker-b with drain, drain-rendered-worker-b',
      'rendered-worker-a: applying files, update to rendered-worker-b with drain',
      'rendered-worker-a: applying files, update to rendered-worker-b with drain',
      'rendered-worker-a: verifying, update to rendered-worker-b with drain',
      'rendered-worker-b: uncordoning, update to rendered-worker-b with drain, uncordon-rendered-worker-b',
      'rendered-worker-b: resumed, update to rendered-worker-b with drain',
      'rendered-worker-b: idle',
    ]);
  });

  it('adopts only the name of a config that describes the same machine', async () => {
    const node = await nodeAt();
    desire(node, named('same', a.spec));
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-same',
      'rendered-worker-same: resumed, update to rendered-worker-same',
      'rendered-worker-same: idle',
    ]);
    expect(node.drift.calls).toEqual(['resume rendered-worker-same']);
  });

  it('reads the config of an update once, also if it drains first', async () => {
    const node = await nodeAt();
    node.settings = buildPolicy('Drain');
    node.read.length = 0;
    desire(node, b);
    await node.settle();
    applyDrain(node);
    await node.settle();
    expect(node.local.current()?.name).toBe('rendered-worker-b');
    expect(node.read).toEqual(['rendered-worker-b']);
  });

  it('reboots, and does nothing more', async () => {
    const node = await nodeAt();
    node.settings = undefined;
    desire(node, b);
    await node.settle();
    applyDrain(node);
    expect(await node.settle()).toEqual(done);
    const told = node.told.length;
    expect(await node.settle()).toEqual(done);
    expect(node.told.slice(-1)).toEqual([
      'rendered-worker-a: rebooting, update to rendered-worker-b with drain, reboot',
    ]);
    expect(node.told).toHaveLength(told);
  });
});

describe('a node that is assigned a config', () => {
  it('that does not exist reports it, and retries after a minute', async () => {
    const node = await nodeAt();
    node.annotations[nodeAnnotations.desiredConfig] = 'rendered-worker-x';
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.read.filter((name) => name === 'rendered-worker-x')).toHaveLength(1);
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-x',
      'rendered-worker-a: preparing, update to rendered-worker-x, Degraded SLW_DAEMON_CONFIG',
    ]);
  });

  it('that needs a reinstallation reports which fields', async () => {
    const node = await nodeAt();
    desire(node, named('fips', { ...a.spec, fips: true }));
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toMatch(/preparing.*Unreconcilable SLW_UPDATE_IRRECONCILABLE.*without spec.fips/);
  });

  it('that its OS cannot have keeps its old one, and is neither drained nor changed', async () => {
    const debian = { name: 'Debian GNU/Linux 13 (trixie)', ability: 'none', architecture: 'amd64' } as const;
    const node = await nodeInCluster({
      current: a,
      wrap: (host) => ({ ...host, os: { ...host.os, facts: async () => debian } }),
    });
    desire(node, a);
    await node.settle();
    node.told.length = 0;
    desire(node, named('quiet', { ...a.spec, kernelArguments: ['quiet'] }));
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-quiet',
      'rendered-worker-a: preparing, update to rendered-worker-quiet, Degraded SLW_DAEMON_OS',
    ]);
    expect(node.annotations[nodeAnnotations.reason]).toMatch(
      /^MachineConfig rendered-worker-quiet, spec\.kernelArguments: Debian GNU\/Linux 13 \(trixie\) has neither rpm-ostree nor bootc.* \[SLW_DAEMON_OS\]$/,
    );
    desire(node, a);
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toBe('rendered-worker-a: idle');
  });

  it('with FIPS mode, which its OS ignores, reports that a reinstallation does not help', async () => {
    const fedora = { name: 'Fedora CoreOS 42', ability: 'all', architecture: 'amd64' } as const;
    const node = await nodeInCluster({
      current: a,
      wrap: (host) => ({ ...host, os: { ...host.os, facts: async () => fedora } }),
    });
    desire(node, named('fips', { ...a.spec, fips: true }));
    expect(await node.settle()).toEqual(done);
    expect(node.annotations[nodeAnnotations.reason]).toMatch(
      /FIPS mode is fixed at installation.*; MachineConfig rendered-worker-fips, spec\.fips: Fedora CoreOS 42 ignores this field/,
    );
  });

  it('but has drifted does not start, unless it is forced', async () => {
    // It never matched its config.
    const node = await nodeAt(b);
    desire(node, c);
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.told.at(-1)).toMatch(/preparing.*Degraded SLW_DAEMON_DRIFT/);
    await node.files.createFile(FORCE_FILE, { ...ownOwners(), mode: 0o600, bytes: new Uint8Array() });
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toBe('rendered-worker-c: idle');
    expect(await node.files.lookAt(FORCE_FILE)).toBeNull();
  });

  it('after a reboot, before it could report its own, is followed', async () => {
    const node = await nodeAt();
    desire(node, b);
    await node.settle();
    // As on a machine that has just booted: the cluster knows only what it reported before.
    node.annotations[nodeAnnotations.currentConfig] = a.name;
    await node.local.remember({ reported: a.name });
    desire(node, c);
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toBe('rendered-worker-c: idle');
  });

  it('is followed also if the watch does not show the report of its own config yet', async () => {
    const node = await nodeAt();
    desire(node, b);
    await node.settle();
    desire(node, a);
    const stale = { ...node.annotations, [nodeAnnotations.currentConfig]: a.name };
    node.behind = stale;
    await node.step();
    node.behind = null;
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toBe('rendered-worker-a: idle');
  });

  it('by a cluster that does not know its current one stays unchanged', async () => {
    const node = await nodeAt(b);
    desire(node, a);
    node.annotations[nodeAnnotations.currentConfig] = a.name;
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual(['rendered-worker-b: idle, Degraded SLW_DAEMON_CLUSTER_OLDER']);
    expect(node.local.memory()).toMatchObject({ held: a.name });
  });
});

/** How often its machine was surveyed for b and compared with a, until the update starts. */
async function countedNode() {
  const counts = { surveys: 0, verifications: 0 };
  let hasBegun = false;
  const count: Around = (call, run) => {
    if (call.operation === 'makeDirectory' && call.path === UPDATE_DIRECTORY) hasBegun = true;
    if (call.operation === 'lookAt' && call.path === '/etc/app.conf' && !hasBegun) counts.surveys += 1;
    return run();
  };
  const node = await nodeInCluster({
    current: a,
    wrap: (host) => ({ ...host, files: aroundCalls(host.files, count) }),
    wrapLocal: (local) => ({
      ...local,
      verify(config) {
        counts.verifications += 1;
        return local.verify(config);
      },
    }),
  });
  desire(node, b);
  return { node, counts };
}

describe('a machine is checked', () => {
  it('once for an update that needs no drain', async () => {
    const { node, counts } = await countedNode();
    node.settings = buildPolicy('None');
    await node.settle();
    expect(node.told.at(-1)).toBe('rendered-worker-b: idle');
    expect(counts).toEqual({ surveys: 1, verifications: 1 });
  });

  it('before and after a drain, and not while waiting for it', async () => {
    const { node, counts } = await countedNode();
    node.settings = buildPolicy('Drain');
    for (let wakes = 0; wakes < 5; wakes += 1) await node.settle();
    expect(counts).toEqual({ surveys: 1, verifications: 1 });
    applyDrain(node);
    await node.settle();
    expect(node.told.at(-1)).toContain('rendered-worker-b: uncordoning');
    expect(counts).toEqual({ surveys: 2, verifications: 2 });
  });

  it('again if it drifts while waiting for its drain', async () => {
    const { node, counts } = await countedNode();
    node.settings = buildPolicy('Drain');
    await node.settle();
    expect(node.told.at(-1)).toContain('draining');
    expect(counts.verifications).toBe(1);
    node.drift.found = 'something was changed';
    await node.settle();
    expect(counts.verifications).toBe(2);
  });

  it('without healing from the final survey on', async () => {
    const { node } = await countedNode();
    node.settings = buildPolicy('None');
    await node.files.makeDirectory('/etc/app.conf', { ...ownOwners(), mode: 0o755 });
    await node.files.createFile('/etc/app.conf/x', { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() });
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.told.at(-1)).toContain('Degraded SLW_DAEMON_PREFLIGHT');
    expect(node.drift.calls).toEqual(['pause', 'resume rendered-worker-a']);
  });
});

const broken = { code: 'SLW_DAEMON_UNIT', message: 'app.service does not start' };
const full = { code: 'SLW_DAEMON_DISK', message: 'no space left on device' };
const noOS = { code: 'SLW_DAEMON_OS', message: 'no such image' };
const old = (problem: typeof broken, rebooting = false): UpdateResult => ({
  outcome: 'old',
  config: a.name,
  target: b.name,
  problem,
  rebooting,
});
const stuck: UpdateResult = { outcome: 'stuck', from: a.name, to: b.name, problem: full };

/** Its updates and recoveries return these results in order, then the real ones. */
async function nodeThatEnds(...results: UpdateResult[]): Promise<NodeInCluster> {
  const node = await nodeInCluster({
    current: a,
    wrapLocal: (local) => ({
      ...local,
      update: async (...of) => results.shift() ?? local.update(...of),
      recover: async () => results.shift() ?? local.recover(),
    }),
    recovered: { outcome: 'none' },
  });
  node.settings = buildPolicy('None');
  desire(node, b);
  return node;
}

describe('an update that ends', () => {
  it('at the old config is reported as rolled back, and is not retried', async () => {
    const node = await nodeThatEnds(old(broken));
    expect(await node.settle()).toEqual(done);
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual([
      'rendered-worker-a: preparing, update to rendered-worker-b',
      'rendered-worker-a: idle, Degraded SLW_DAEMON_UNIT (done)',
    ]);
    expect(node.drift.calls).toEqual(['pause', 'resume rendered-worker-a']);
    expect(node.local.memory()).toEqual({ reported: a.name, failed: { target: b.name, problem: broken } });
    expect(node.osFailures).toBe(0);
  });

  it('at the old config because of the OS is counted', async () => {
    const node = await nodeThatEnds(old(noOS));
    await node.settle();
    expect(node.osFailures).toBe(1);
  });

  it('at the old config for a temporary reason is retried after a minute', async () => {
    const node = await nodeThatEnds(old(full));
    const next = await node.settle();
    expect(next).toMatchObject({ type: 'again' });
    expect(next.type === 'again' && Math.round(next.afterMs / 1000)).toBe(60);
    expect(node.told.at(-1)).toBe('rendered-worker-a: idle, Degraded SLW_DAEMON_DISK (done)');
    expect(node.local.memory()).toEqual({ reported: a.name, failed: { target: b.name, problem: full, tries: 1 } });
  });

  it.each(['busy', 'network', 'no space'] as const)(
    'at the old config because of the OS (%s) is retried with backoff until it succeeds',
    async (failure) => {
      let [failures, failedAt] = [2, 0];
      const clock = createManualClock();
      const node = await nodeInCluster({
        current: a,
        clock,
        wrap: (host) => ({
          ...host,
          os: {
            ...host.os,
            async stage(change) {
              if (failures-- > 0) {
                failedAt = clock.now();
                throw new OSFailure(failure, 'The kernel arguments cannot be changed', 'error');
              }
              await host.os.stage(change);
            },
          },
        }),
      });
      desire(node, named('kargs', { ...a.spec, kernelArguments: ['x=1'] }));
      for (const minutes of [1, 2]) {
        await node.settle();
        applyDrain(node);
        await node.settle();
        applyDrain(node);
        expect(await node.settle()).toEqual({ type: 'again', afterMs: minutes * 60_000 });
        expect(node.told.at(-1)).toBe('rendered-worker-a: idle, Degraded SLW_DAEMON_OS (done)');
        expect(node.annotations[nodeAnnotations.reason]).toContain('The daemon retries');
        await clock.advance(minutes * 60_000);
      }
      await node.settle();
      applyDrain(node);
      await node.settle();
      expect(node.told.at(-1)).toMatch(/rebooting, update to rendered-worker-kargs/);
      printRecovery(`an OS that refused an update twice (${failure}) is updated`, clock.now() - failedAt, 2 * 60_000);
    },
  );

  it('in a rollback with a reboot goes down', async () => {
    const node = await nodeThatEnds(old(broken, true));
    expect(await node.settle()).toEqual(done);
    expect(await node.settle()).toEqual(done);
    expect(node.told.slice(1)).toEqual(['rendered-worker-a: rebooting, Degraded SLW_DAEMON_UNIT (under way)']);
    expect(node.local.memory()).toEqual({ reported: a.name, failed: { target: b.name, problem: broken } });
    expect(node.drift.calls).toEqual(['pause']);
  });

  it('at neither config is recovered every half minute until it is at one', async () => {
    const node = await nodeThatEnds(stuck, stuck, old(broken));
    const again = { type: 'again', afterMs: 30_000 };
    expect(await node.settle()).toEqual(again);
    expect(await node.settle()).toEqual(again);
    expect(await node.settle()).toEqual(done);
    expect(node.told.slice(1)).toEqual([
      'unknown: applying files, update to rendered-worker-b, Degraded SLW_DAEMON_DISK',
      'rendered-worker-a: idle, Degraded SLW_DAEMON_UNIT (done)',
    ]);
  });

  it('at neither config is recovered even if the cluster does not respond', async () => {
    const node = await nodeThatEnds(stuck, stuck, old(broken));
    await node.step();
    node.outage = new Error('no cluster');
    await expect(node.step()).rejects.toThrow('no cluster');
    await expect(node.step()).rejects.toThrow('no cluster');
    await expect(node.step()).rejects.toThrow('no cluster');
    node.outage = null;
    expect(await node.settle()).toEqual(done);
    expect(node.told.at(-1)).toBe('rendered-worker-a: idle, Degraded SLW_DAEMON_UNIT (done)');
  });
});

describe('a machine whose disk does not name its config', () => {
  it('adopts the one of its Node, if it matches', async () => {
    const node = await nodeInCluster();
    desire(node, a);
    node.annotations[nodeAnnotations.currentConfig] = a.name;
    expect(await node.settle()).toEqual(done);
    expect(node.told).toEqual(['rendered-worker-a: idle']);
    expect(node.drift.calls).toEqual(['resume rendered-worker-a']);
  });

  it.each([
    ['adopts the one that its first boot recorded', { [nodeAnnotations.currentConfig]: a.name, more: 1 }, a.name],
    ['ignores a file without a name', { [nodeAnnotations.currentConfig]: 1 }, undefined],
    ['ignores a file that is a list', [a.name], undefined],
  ])('%s', async (_, written, expected) => {
    const node = await nodeInCluster();
    desire(node, a);
    await writeStateFile(node.files, NODE_ANNOTATIONS, JSON.stringify(written));
    await node.settle();
    expect(node.local.current()?.name).toBe(expected);
  });

  it('and that does not match reports it, with an event, and retries after a minute', async () => {
    const node = await nodeInCluster();
    desire(node, b);
    node.annotations[nodeAnnotations.currentConfig] = b.name;
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.told).toEqual(['unknown: idle, Degraded SLW_DAEMON_DRIFT']);
    expect(node.events).toEqual([expect.stringMatching(/^OnDiskStateValidationFailed: 1 item .*app.conf/)]);
  });

  it('and whose Node does not name it either explains what to do', async () => {
    const node = await nodeInCluster();
    expect(await node.settle()).toEqual({ type: 'again', afterMs: 60_000 });
    expect(node.told).toEqual(['unknown: idle, Degraded SLW_DAEMON_NO_CONFIG']);
  });
});
