// The daemon against a real control plane, on a machine that is a directory.
import { appendFile, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineConfigNodes, machineConfigs, machineConfigurations, nodeAnnotations, poolLabel } from '@slipway/api';
import { createSimulatedHost, SIMULATED_DETAILS } from '@slipway/simulator';
import { type MachineConfigSpec, specWithFiles } from '@slipway/testing/builders';
import { listEvents } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DaemonCluster,
  buildStateAnnotations,
  goTo,
  type SimulatedNode,
  startDaemonCluster,
} from './daemon/cluster.ts';

const { desiredConfig, desiredDrain, lastAppliedDrain, currentConfig, state, reason } = nodeAnnotations;
const EMPTY: MachineConfigSpec = { config: { ignition: { version: '3.5.0' } } };
/** Free of cost by the built-in policy. */
const PULL_SECRET = '/var/lib/kubelet/config.json';

let cluster: DaemonCluster;
let born: string;

beforeAll(async () => {
  cluster = await startDaemonCluster();
  born = await cluster.render(EMPTY);
}, 120_000);
afterAll(() => cluster.stop(), 60_000);

const read = (node: SimulatedNode, path: string) => readFile(join(node.root, path), 'utf8');
const bootId = (node: SimulatedNode) => createSimulatedHost({ root: node.root }).bootId();

const listEventReasons = async ({ name }: SimulatedNode): Promise<string[]> =>
  (await listEvents(cluster.operator, { name })).map(({ reason }) => reason);

async function nodeAt(
  name: string,
  spec: MachineConfigSpec,
  args: readonly string[] = [],
): Promise<{ node: SimulatedNode; config: string }> {
  const node = await cluster.makeNode(name, born);
  const config = await cluster.render(spec);
  await node.annotate({ [desiredConfig]: born });
  node.start(...args);
  await node.says(buildStateAnnotations('Done', born));
  if (config !== born) await goTo(node, config);
  return { node, config };
}

describe('a node', () => {
  it('is brought to another config without a drain or a reboot where policy asks for none', async () => {
    const { node } = await nodeAt('quiet', EMPTY);
    const before = await bootId(node);
    const target = await cluster.render(specWithFiles({ [PULL_SECRET]: '{"auths":{}}' }));
    await node.annotate({ [desiredConfig]: target });
    await node.says(buildStateAnnotations('Done', target));
    expect(await read(node, PULL_SECRET)).toBe('{"auths":{}}');
    expect(await bootId(node)).toBe(before);
    expect((await node.annotations())[desiredDrain] ?? '').not.toMatch(/^drain-/);
    await node.stop();
  });

  it('asks for a drain before a reboot, waits for it, and asks for its pods back after it, each step a condition', async () => {
    const { node } = await nodeAt('rebooted', EMPTY);
    const name = { name: node.name };
    const spec = { node: name, pool: { name: 'worker' }, configVersion: { desired: born } };
    await cluster.operator.create(machineConfigNodes, { metadata: name, spec });
    const conditionsAre = (expected: Readonly<Record<string, string>>) =>
      until(async () => {
        const { conditions = [] } = (await cluster.operator.get(machineConfigNodes, name)).status ?? {};
        expect(Object.fromEntries(conditions.map(({ type, status }) => [type, status]))).toMatchObject(expected);
      });
    const before = await bootId(node);
    const target = await cluster.render({ ...specWithFiles({ '/etc/app.conf': 'one\n' }), kernelArguments: ['nosmt'] });
    await node.annotate({ [desiredConfig]: target });
    await node.says({ [desiredDrain]: `drain-${target}`, [state]: 'Working' });
    await expect(stat(join(node.root, '/etc/app.conf'))).rejects.toThrow(/ENOENT/);
    await conditionsAre({ Updated: 'False', UpdatePrepared: 'True', Drained: 'Unknown' });
    await node.annotate({ [lastAppliedDrain]: `drain-${target}` });
    await node.says({ [currentConfig]: target, [desiredDrain]: `uncordon-${target}` });
    expect(await read(node, '/etc/app.conf')).toBe('one\n');
    expect(await bootId(node)).not.toBe(before);
    await conditionsAre({ Drained: 'True', AppliedFilesAndOS: 'True', RebootedNode: 'True', Uncordoned: 'Unknown' });
    await node.annotate({ [lastAppliedDrain]: `uncordon-${target}` });
    await node.says(buildStateAnnotations('Done', target));
    await conditionsAre({ Updated: 'True', NodeDegraded: 'False' });
    // They were True before Updated was: the message of a past step is its last one.
    const { conditions = [] } = (await cluster.operator.get(machineConfigNodes, name)).status ?? {};
    expect(Object.fromEntries(conditions.map(({ type, message }) => [type, message]))).toMatchObject({
      UpdateComplete: `In the last update: The machine was verified and matches ${target}`,
      Uncordoned: 'In the last update: The node is uncordoned',
      Resumed: `In the last update: The node is back in service with ${target}`,
    });
    await node.stop();
  });

  it('only takes the new name where nothing differs for the machine', async () => {
    const { node } = await nodeAt('renamed', specWithFiles({ '/etc/app.conf': 'one\n' }));
    const { mtimeMs } = await stat(join(node.root, '/etc/app.conf'));
    // The same bytes in another encoding.
    const same = specWithFiles({ '/etc/app.conf': 'one\n' });
    const target = await cluster.render(
      JSON.parse(JSON.stringify(same).replace('data:,one%0A', 'data:;base64,b25lCg==')) as MachineConfigSpec,
    );
    await node.annotate({ [desiredConfig]: target });
    await node.says(buildStateAnnotations('Done', target));
    expect((await stat(join(node.root, '/etc/app.conf'))).mtimeMs).toBe(mtimeMs);
    await node.stop();
  });

  it('keeps the machine as it is while the cluster cannot be reached, finds drift, and goes on when it can', async () => {
    const { node, config } = await nodeAt('cut-off', specWithFiles({ [PULL_SECRET]: 'one' }));
    await node.stop();
    const away = join(node.root, '..', 'away.kubeconfig');
    const kubeconfig = await readFile(node.kubeconfig, 'utf8');
    await writeFile(away, kubeconfig.replace(/server: .*/, 'server: https://127.0.0.1:1'));
    const running = node.start('--kubeconfig', away);
    await running.saw(/cannot be reached|SLW_KUBE_UNREACHABLE/);
    await writeFile(join(node.root, PULL_SECRET), 'two');
    await running.saw(/drift/i);
    expect(await read(node, PULL_SECRET)).toBe('two');
    await writeFile(join(node.root, PULL_SECRET), 'one');
    await node.stop();
    node.start();
    await node.says(buildStateAnnotations('Done', config));
    await node.stop();
  });
});

describe('drift', () => {
  it('is told with the file, in an event and a metric too, and healed where the policy says so', async () => {
    const port = await pickFreePort();
    const { node, config } = await nodeAt('drifting', specWithFiles({ '/etc/app.conf': 'one\n' }), [
      '--probes',
      `127.0.0.1:${port}`,
    ]);
    await appendFile(join(node.root, '/etc/app.conf'), 'two\n');
    const began = performance.now();
    const told = await node.says({ [state]: 'Degraded' });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(told[reason]).toContain('/etc/app.conf');
    expect(told[reason]).not.toContain('two');
    expect(await read(node, SIMULATED_DETAILS)).toMatch(/^\+two$/m);
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toMatch(/^mcd_config_drift \d{10}/m);
    expect(metrics).toMatch(/^mcd_state\{state="Degraded",reason="SLW_DAEMON_DRIFT"\}/m);
    await until(async () => expect(await listEventReasons(node)).toContain('ConfigDriftDetected'));
    const all = { name: 'cluster' };
    const existing = await cluster.operator.find(machineConfigurations, all);
    const annotations = { 'slipway.dev/drift-policy': 'heal' };
    if (existing === undefined) {
      await cluster.operator.create(machineConfigurations, { metadata: { ...all, annotations }, spec: {} });
    } else {
      await cluster.operator.patch(
        machineConfigurations,
        all,
        { type: 'merge', body: { metadata: { annotations } } },
        {},
      );
    }
    await node.says(buildStateAnnotations('Done', config));
    expect(await read(node, '/etc/app.conf')).toBe('one\n');
    await cluster.operator.patch(
      machineConfigurations,
      all,
      { type: 'merge', body: { metadata: { annotations: { 'slipway.dev/drift-policy': null } } } },
      {},
    );
    await node.stop();
  });

  it('keeps an update from starting, unless somebody forces it', async () => {
    const { node } = await nodeAt('forced', specWithFiles({ [PULL_SECRET]: 'one' }));
    await writeFile(join(node.root, PULL_SECRET), 'drifted');
    await node.says({ [state]: 'Degraded' });
    const target = await cluster.render(specWithFiles({ [PULL_SECRET]: 'two' }));
    await node.annotate({ [desiredConfig]: target });
    await node.says({ [state]: 'Degraded' });
    expect(await read(node, PULL_SECRET)).toBe('drifted');
    await node.stop();
    await writeFile(join(node.root, '/run/machine-config-daemon-force'), '');
    node.start();
    await node.says(buildStateAnnotations('Done', target));
    expect(await read(node, PULL_SECRET)).toBe('two');
    await expect(stat(join(node.root, '/run/machine-config-daemon-force'))).rejects.toThrow(/ENOENT/);
    await node.stop();
  });
});

describe('a cluster restored to an older state than the disk', () => {
  it('is told so, and followed only when it asks for something else', async () => {
    const older = await cluster.render(specWithFiles({ [PULL_SECRET]: 'older' }));
    const { node, config } = await nodeAt('restored', specWithFiles({ [PULL_SECRET]: 'newer' }));
    await node.stop();
    await node.annotate({ [currentConfig]: older, [desiredConfig]: older, [state]: 'Done' });
    node.start();
    const told = await node.says(buildStateAnnotations('Degraded', config));
    expect(told[reason]).toContain('SLW_DAEMON_CLUSTER_OLDER');
    await node.stop();
    // Nor after a restart, when the Node says again what the disk has.
    node.start();
    await node.says(buildStateAnnotations('Degraded', config));
    expect(await read(node, PULL_SECRET)).toBe('newer');
    const next = await cluster.render(specWithFiles({ [PULL_SECRET]: 'next' }));
    await node.annotate({ [desiredConfig]: next });
    await node.says(buildStateAnnotations('Done', next));
    // Now it is asked for.
    await node.annotate({ [desiredConfig]: older });
    await node.says(buildStateAnnotations('Done', older));
    await node.stop();
  });
});

describe('a node that moves to another pool', () => {
  it('takes the config of that pool, also while its record still names the old one', async () => {
    const { node } = await nodeAt('moved', specWithFiles({ [PULL_SECRET]: 'worker' }));
    const target = await cluster.render(specWithFiles({ [PULL_SECRET]: 'infra' }), 'infra');
    const name = { name: node.name };
    const spec = { node: name, pool: { name: 'worker' }, configVersion: { desired: born } };
    await cluster.operator.create(machineConfigNodes, { metadata: name, spec });
    await node.annotate({ [desiredConfig]: target });
    await node.says({ [state]: 'Working' });
    const body = { spec: { pool: { name: 'infra' }, configVersion: { desired: target } } };
    await cluster.operator.patch(machineConfigNodes, name, { type: 'merge', body }, {});
    await node.says(buildStateAnnotations('Done', target));
    expect(await read(node, PULL_SECRET)).toBe('infra');
    await node.stop();
  });
});

describe('a config that cannot be applied leaves the machine untouched and says why', () => {
  const spoiled = async (name: string, spec: MachineConfigSpec): Promise<string> => {
    await cluster.operator.create(machineConfigs, { metadata: { name, labels: { [poolLabel]: 'worker' } }, spec });
    return name;
  };
  let node: SimulatedNode;
  let config: string;
  beforeAll(async () => {
    ({ node, config } = await nodeAt('refusing', specWithFiles({ [PULL_SECRET]: 'one' })));
  }, 60_000);
  afterAll(() => node.stop());
  const badPath = (path: string) => specWithFiles({ [path]: 'x' });

  it.each<[string, RegExp, (node: SimulatedNode) => Promise<string>]>([
    ['one that does not exist', /does not exist/, async () => `rendered-worker-${'0'.repeat(32)}`],
    [
      'one of which a part is missing',
      /differs from what was rendered/,
      () => spoiled(`rendered-worker-${'1'.repeat(32)}`, specWithFiles({ [PULL_SECRET]: 'cut' })),
    ],
    [
      'one of a spec version that is not known yet',
      /3\.99\.0/,
      () => cluster.render({ config: { ignition: { version: '3.99.0' } } }),
    ],
    [
      'one with a path that leads out of the root through a link',
      /\/etc\/escape/,
      async (node) => {
        await symlink('../../../../..', join(node.root, 'etc/escape'));
        return cluster.render(badPath('/etc/escape/tmp/slipway-escaped'));
      },
    ],
    [
      'one with a file where a directory is',
      /\/etc\/taken/,
      async (node) => {
        await mkdir(join(node.root, 'etc/taken'), { recursive: true });
        await writeFile(join(node.root, 'etc/taken/by-others'), '');
        return cluster.render(badPath('/etc/taken'));
      },
    ],
    ['one with a path below a file', /\/etc\/hostname/, () => cluster.render(badPath('/etc/hostname/below'))],
    [
      'a bare piece',
      /99-worker-motd.*is not a rendered config.*found no such label.*SLW_DAEMON_TARGET/s,
      async () => {
        const metadata = { name: '99-worker-motd' };
        await cluster.operator.create(machineConfigs, { metadata, spec: specWithFiles({ [PULL_SECRET]: 'piece' }) });
        return metadata.name;
      },
    ],
    [
      'another pool’s rendered config',
      /rendered-master-.*was rendered for pool master, and this node is in pool worker.*SLW_DAEMON_TARGET/s,
      async (node) => {
        const target = await cluster.render(specWithFiles({ [PULL_SECRET]: 'of the masters' }), 'master');
        const spec = { node: { name: node.name }, pool: { name: 'worker' }, configVersion: { desired: target } };
        await cluster.operator.create(machineConfigNodes, { metadata: { name: node.name }, spec });
        return target;
      },
    ],
    [
      'a rendered config with compressed contents that was changed',
      /differs from what was rendered/,
      async () => {
        const contents = { source: 'data:;base64,H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==', compression: 'gzip' };
        const files = [{ path: '/etc/packed', overwrite: true, contents }];
        return spoiled(`rendered-worker-${'2'.repeat(32)}`, {
          config: { ignition: { version: '3.5.0' }, storage: { files } },
        });
      },
    ],
  ])('%s', async (_, why, make) => {
    const before = await read(node, PULL_SECRET);
    const target = await make(node);
    await node.annotate({ [desiredConfig]: target });
    const told = await node.says(buildStateAnnotations('Degraded', config));
    expect(told[reason]).toMatch(why);
    expect(told[desiredDrain] ?? '').not.toMatch(/^drain-/);
    expect(await read(node, PULL_SECRET)).toBe(before);
    await expect(stat('/tmp/slipway-escaped')).rejects.toThrow(/ENOENT/);
    // And it goes on to a good one.
    const good = await cluster.render(specWithFiles({ [PULL_SECRET]: `good after ${target}` }));
    await node.annotate({ [desiredConfig]: good });
    await node.says(buildStateAnnotations('Done', good));
    config = good;
  });
});
