// Secrets of common kinds in files, units and drop-ins of a machine, with a real control plane and the daemon that
// is shipped: none of them is ever stored by the API server, or reaches the log of the daemon or of the controllers, or
// the output of a command.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEFAULT_NAMESPACE,
  machineConfigNodes,
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  nodeAnnotations,
  renderProblemsAnnotation,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { remoteContentController, renderController } from '@slipway/controllers';
import { type InProcessCommand, runInProcess } from '@slipway/slipway/testing/in-process';
import { SIMULATED_DETAILS } from '@slipway/simulator';
import { fileEntry, ignitionConfig, machineConfig, machineConfigPool } from '@slipway/testing/builders';
import { createFakeGates } from '@slipway/testing/gates';
import { runControllers } from '@slipway/testing/run-controllers';
import { sampleSecrets, type SecretSample } from '@slipway/testing/secret-samples';
import { until } from '@slipway/testing/wait';
import type { StorageHistory } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  buildStateAnnotations,
  type DaemonCluster,
  goTo,
  grantDrain,
  type SimulatedNode,
  startDaemonCluster,
} from './daemon/cluster.ts';

const { desiredConfig, state, reason } = nodeAnnotations;
const NODE = 'secretive';
const BROKEN = 'broken.service';

/** In the config, then on the machine, then in the next config, and in what a unit prints. */
const [configured, drifted, next] = [sampleSecrets(200, 1), sampleSecrets(200, 2), sampleSecrets(200, 3)];
const printed = sampleSecrets(200, 4).filter(({ kind }) =>
  /^(?!.*(?:next line|lines)).*(?:token|key of Stripe|bearer|JSON|hash|URL)/.test(kind),
);
const all = [...configured, ...drifted, ...next, ...printed];

const findLeaks = (text: string): string[] =>
  all.filter(({ secrets }) => secrets.some((secret) => text.includes(secret))).map(({ kind }) => kind);

/** Lines that systemd does not read become comments. */
function toUnit(text: string): string {
  const lines = text.split('\n');
  const isUnit = lines.every((line) => line === '' || /^\[\w+\]$|^[A-Za-z]+=/.test(line));
  return ['[Service]', ...(isUnit ? lines : lines.map((line) => `# ${line}`)), ''].join('\n');
}

/** A third each in files, units and drop-ins. */
function configWith(samples: readonly SecretSample[], units: readonly object[] = []): Record<string, unknown> {
  const part = (at: number) => samples.filter((_, index) => index % 3 === at);
  const dropins = part(2).map(({ text }, index) => ({ name: `${index}.conf`, contents: toUnit(text) }));
  return ignitionConfig({
    storage: { files: part(0).map(({ text }, index) => fileEntry(`/etc/shop/${index}`, text, { mode: 0o644 })) },
    systemd: {
      units: [
        ...part(1).map(({ text }, index) => ({ name: `shop-${index}.service`, contents: toUnit(text) })),
        { name: 'crio.service', dropins },
        ...units,
      ],
    },
  });
}

/** Fails after it has printed tokens. */
const brokenUnit = [
  '[Service]',
  ...printed.flatMap(({ text }) => text.trim().split('\n')).map((line) => `ExecStartPre=/usr/bin/echo ${line}`),
  'ExecStart=/usr/bin/false',
  '',
].join('\n');

let cluster: DaemonCluster;
let node: SimulatedNode;
let kubeconfig = '';
let born = '';
let history: StorageHistory;
let daemonLog: () => string;

beforeAll(async () => {
  cluster = await startDaemonCluster();
  const { operator, controlPlane } = cluster;
  history = await controlPlane.recordHistory();
  kubeconfig = await controlPlane.kubeconfigFor({ user: 'reader', groups: ['system:masters'], name: 'secrets-reader' });
  const empty = await cluster.render({ config: ignitionConfig() });
  born = await cluster.render({ config: configWith(configured) });
  await operator.create(machineConfigPools, machineConfigPool('worker'));
  await operator.create(machineConfigs, machineConfig('50-shop', 'worker', { config: configWith(configured) }));
  const restart = [{ type: 'DaemonReload' }, { type: 'Restart', restart: { serviceName: BROKEN } }] as const;
  await operator.create(machineConfigurations, {
    metadata: { name: 'cluster' },
    spec: { nodeDisruptionPolicy: { units: [{ name: BROKEN, actions: [...restart] }] } },
  });
  node = await cluster.makeNode(NODE, empty);
  await operator.create(machineConfigNodes, {
    metadata: { name: NODE },
    spec: { node: { name: NODE }, pool: { name: 'worker' }, configVersion: { desired: empty } },
  });
  await node.annotate({ [desiredConfig]: empty });
  const daemon = node.start('--log-level', 'debug');
  daemonLog = () => daemon.out() + daemon.err();
  await node.says(buildStateAnnotations('Done', empty));
  await goTo(node, born);
}, 120_000);
afterAll(() => cluster.stop(), 60_000);

/** Every value that the API server has stored since the start, without the configs themselves and Secrets. */
async function readStored(): Promise<string> {
  const values = (await history.read()).filter(({ key }) => !key.startsWith('/registry/secrets/'));
  return values.map(({ key, value }) => (isMachineConfig(key) ? withoutConfig(value) : value.toString())).join('\n');
}

const isMachineConfig = (key: string): boolean =>
  key.startsWith('/registry/machineconfiguration.openshift.io/machineconfigs/');

function withoutConfig(value: Buffer): string {
  const { spec, ...rest } = JSON.parse(value.toString()) as { spec?: unknown };
  // The kernel type is what a test itself wrote.
  return JSON.stringify({
    ...rest,
    spec: isRecord(spec) ? { ...spec, config: undefined, kernelType: undefined } : spec,
  });
}

/** `logged`: what the log has, so that an empty one does not count. */
async function expectNoLeak(logged: string): Promise<void> {
  const stored = await readStored();
  expect(stored).toContain('SLW_DAEMON_');
  expect(daemonLog()).toContain(logged);
  for (const text of [stored, daemonLog()]) {
    expect(findLeaks(text)).toEqual([]);
    // Not even what is left of them without secrets.
    expect(text).not.toMatch(/\+\+\+ \/etc\/|last lines of its log/);
  }
}

const readDetails = () => readFile(join(node.root, SIMULATED_DETAILS), 'utf8');

describe('200 secrets on a machine', () => {
  it('are at least 200, of every kind', () => {
    for (const part of [configured, drifted, next]) expect(part.length).toBeGreaterThanOrEqual(200);
    expect(new Set(configured.map(({ kind }) => kind)).size).toBeGreaterThan(150);
  });

  it('stay on it when every file, unit and drop-in drifts', async () => {
    const paths = drifted.map((_, index) => {
      const at = Math.floor(index / 3);
      const unit = index % 3 === 1 ? `shop-${at}.service` : `crio.service.d/${at}.conf`;
      return index % 3 === 0 ? `/etc/shop/${at}` : `/etc/systemd/system/${unit}`;
    });
    for (const [index, { text }] of drifted.entries()) await writeFile(join(node.root, paths[index] ?? ''), text);
    const told = await node.says({
      [state]: 'Degraded',
      [reason]: expect.stringMatching(/^200 items on this machine/),
    });
    expect(told[reason]).toMatch(
      /file \/etc\/shop\/0: expected contents of \d+ bytes, found other contents of \d+ bytes/,
    );
    await until(async () => expect(await readStored()).toContain('ConfigDriftDetected'));
    await expectNoLeak('200 items on this machine differ');
    expect(told[reason]).toContain('journalctl -u machine-config-daemon -t machine-config-details');
    expect(await readDetails()).toContain('+++ /etc/shop/0 (machine)');
    expect(findLeaks(await readDetails())).toEqual([]);
  });

  it('stay on it when an update fails because a unit prints them and exits', async () => {
    await cluster.operator.patch(
      machineConfigurations,
      { name: 'cluster' },
      { type: 'merge', body: { metadata: { annotations: { 'slipway.dev/drift-policy': 'heal' } } } },
      {},
    );
    await node.says(buildStateAnnotations('Done', born));
    const units = [{ name: BROKEN, enabled: false, contents: brokenUnit }];
    const broken = await cluster.render({ config: configWith(configured, units) });
    await node.annotate({ [desiredConfig]: broken });
    await until(async () => {
      await grantDrain(node);
      const expected = expect.stringContaining(`Cannot restart ${BROKEN}`);
      expect(await node.annotations()).toMatchObject({ [state]: 'Degraded', [reason]: expected });
    });
    await expectNoLeak(`Cannot restart ${BROKEN}`);
    expect((await node.annotations())[reason]).toContain(`journalctl -u ${BROKEN}`);
    expect(await readDetails()).toContain(`Cannot restart ${BROKEN}. The last lines of its log:`);
    expect(findLeaks(await readDetails())).toEqual([]);
  });

  it('are in nothing that the controllers write or log, also when they cannot fetch or render', async () => {
    const { operator } = cluster;
    const remote = ['Qw3rTz7uXpL9', 'bN4mK8vC2xYs5d'];
    const source = `https://shop:${remote[0]}@127.0.0.1:9/a?token=${remote[1]}`;
    const config = ignitionConfig({ storage: { files: [{ path: '/etc/remote', contents: { source } }] } });
    await operator.create(machineConfigs, machineConfig('60-remote', 'worker', { config }));
    await operator.create(
      machineConfigs,
      machineConfig('70-kernel', 'worker', { kernelType: `password=${remote[0]}` }),
    );
    const controllers = [
      remoteContentController({ namespace: DEFAULT_NAMESPACE }),
      renderController({ namespace: DEFAULT_NAMESPACE, controllerVersion: 'v1', gates: createFakeGates(false) }),
    ];
    const running = runControllers(operator, controllers);
    try {
      await until(async () => {
        const { metadata } = await operator.get(machineConfigPools, { name: 'worker' });
        expect(metadata.annotations?.[renderProblemsAnnotation]).toMatch(/70-kernel/);
        expect(running.log()).toContain('60-remote');
      });
      const stored = await readStored();
      for (const text of [stored, running.log()]) {
        expect(text).toContain('60-remote');
        expect([...findLeaks(text), ...remote.filter((secret) => text.includes(secret))]).toEqual([]);
      }
    } finally {
      await running.stop();
      for (const name of ['60-remote', '70-kernel']) await operator.delete(machineConfigs, { name }, {});
    }
  });

  it('are in no output of a command, unless the user asks for them', async () => {
    const manifest = join(node.root, 'next.yaml');
    const object = machineConfig('50-shop', 'worker', { config: configWith(next) });
    await writeFile(
      manifest,
      JSON.stringify({ apiVersion: 'machineconfiguration.openshift.io/v1', kind: 'MachineConfig', ...object }),
    );
    const other = await cluster.render({ config: configWith(next) });
    const access = ['--kubeconfig', kubeconfig];
    const paths = ['/etc/shop/0', 'shop-1.service', 'crio.service'];
    const commands: [InProcessCommand, ...string[]][] = [
      ['plan', '-f', manifest, '--verbose', ...access],
      ['diff', born, other, ...access],
      ['history', 'worker', ...access],
      ['status', ...access],
      ['why', NODE, ...access],
      ['explain', 'worker', ...access],
    ];
    for (const path of paths) commands.push(['explain', 'worker', path, ...access]);
    for (const [command, ...args] of commands) {
      for (const output of [[], ['-o', 'json']]) {
        const { out, err } = await runInProcess(command, ...args, ...output);
        // Of a report: a usage error contains no secrets either.
        expect([command, out.length > 100 ? 'a report' : out + err]).toEqual([command, 'a report']);
        expect([command, ...findLeaks(out + err)]).toEqual([command]);
      }
    }
    const { out } = await runInProcess('diff', born, other, ...access, '--show-secrets');
    expect(findLeaks(out).length).toBeGreaterThan(300);
  });
});
