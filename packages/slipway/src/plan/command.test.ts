import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { planCommand } from './command.ts';
import './plan.ts'; // Preloaded, so that loading does not count against a test's timeout.

const made: string[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const directory of made.splice(0)) await rm(directory, { recursive: true });
});
async function fleet(files: Record<string, string | object>): Promise<string> {
  const directory = await fleetDirectory(files);
  made.push(directory);
  return directory;
}
const plan = (args: string[], stdin = '') => runCommand(planCommand, args, stdin);
const chrony = (text: string) => machineConfig('50-chrony', 'worker', [file('/etc/chrony.conf', text)]);
const secret = machineConfig('60-secret', 'worker', [file('/etc/secret', 'hunter2', 0o600)]);

describe('slipway plan without a cluster', () => {
  it('compares two fleets: what changes, where it comes from, and what a machine has to do', async () => {
    const dir = await fleet({
      'main/a.json': chrony('pool a\n'),
      'main/gone.json': secret,
      'branch/a.json': chrony('pool b\n'),
    });
    const { out, code } = await plan(['--offline', '-f', join(dir, 'branch'), '--from', join(dir, 'main')]);
    expect(code).toBe(3);
    expect(out).toContain('MachineConfig 50-chrony: changed');
    expect(out).toContain('MachineConfig 60-secret: removed');
    expect(out).toContain('~ file /etc/chrony.conf  (from 50-chrony)\n');
    expect(out).toContain('- file /etc/secret  (previously from 60-secret)\n');
    expect(out).toMatch(/a machine at rendered-worker-[0-9a-f]{8}…: drain, reboot/);
    expect(out).toContain('Pool master: nothing changes');
    expect(out).not.toContain('hunter2');
  });

  it('names directories and links as such', async () => {
    const storage = { directories: [{ path: '/opt/x' }], links: [{ path: '/opt/y', target: '/etc' }] };
    const gone = machineConfig('60-gone', 'worker', []);
    const spec = { config: { ignition: { version: '3.4.0' }, storage } };
    const dir = await fleet({
      'main/a.json': chrony('a'),
      'main/b.json': { ...gone, spec },
      'branch/a.json': chrony('a'),
    });
    const { out } = await plan(['--offline', '-f', join(dir, 'branch'), '--from', join(dir, 'main')]);
    expect(out).toContain('    directory /opt/x: reboot (no node disruption policy entry covers /opt/x)\n');
    expect(out).toContain('    link /opt/y: reboot (');
  });

  it('reports a change that disrupts no machine, because none is known', async () => {
    const dir = await fleet({
      'main/a.json': chrony('a'),
      'branch/a.json': chrony('a'),
      'branch/p.json': customPool('x'),
    });
    const { out, code } = await plan(['--offline', '-f', join(dir, 'branch'), '--from', join(dir, 'main')]);
    expect(code).toBe(2);
    expect(out.trimEnd().split('\n').at(-1)).toBe(
      'Result: something changes; no machines are known here, and none would be drained or rebooted',
    );
  });

  it('exits 0 for the same fleet in other files', async () => {
    const dir = await fleet({ 'a/x.json': chrony('a'), 'b/y.json': { kind: 'List', items: [chrony('a')] } });
    const { out, code } = await plan(['--offline', '-f', join(dir, 'b'), '--from', join(dir, 'a')]);
    expect({ code, end: out.trimEnd().split('\n').at(-1) }).toEqual({ code: 0, end: 'Result: nothing changes' });
  });

  it.each(['10.1.2.3', '127.0.0.1', '169.254.169.254'])(
    'does not fetch what a change refers to at %s, an address that only this machine may reach',
    async (host) => {
      const contents = { source: `http://${host}/secret` };
      const change = machineConfig('50-remote', 'worker', [{ path: '/etc/remote', mode: 0o644, contents }]);
      const dir = await fleet({ 'main/a.json': chrony('a'), 'branch/a.json': chrony('a'), 'branch/b.json': change });
      const flags = ['--from', join(dir, 'main'), '--fetch-timeout', '1'];
      const { out, err, code } = await plan(['--offline', '-f', join(dir, 'branch'), ...flags]);
      expect(code).toBe(1);
      expect(out + err).toContain(`the host ${host} is not allowed: it is `);
      expect(out + err).toContain('[SLW_RESOLVE_HOST]');
    },
  );

  it('takes machines, pods and budgets from a dump of a cluster', async () => {
    const first = JSON.parse(
      (await plan(['--offline', '-f', await fleet({ 'a.json': chrony('a') }), '-o', 'json'])).out,
    ) as {
      pools: { name: string; after: string }[];
    };
    const config = first.pools.find(({ name }) => name === 'worker')?.after ?? '';
    const state = 'machineconfiguration.openshift.io';
    const node = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        uid: name,
        resourceVersion: '1',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { 'node-role.kubernetes.io/worker': '' },
        annotations: {
          [`${state}/currentConfig`]: config,
          [`${state}/desiredConfig`]: config,
          [`${state}/state`]: 'Done',
        },
      },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    });
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'shop', uid: 'p', resourceVersion: '1', labels: { app: 'web' } },
      spec: { nodeName: 'w-1' },
      status: { phase: 'Running' },
    };
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'shop', uid: 'b', resourceVersion: '1' },
      spec: { selector: { matchLabels: { app: 'web' } } },
      status: { disruptionsAllowed: 0 },
    };
    const dump = { kind: 'List', items: [chrony('a'), node('w-1'), node('w-2'), pod, budget] };
    const dir = await fleet({ 'now.json': dump, 'fleet/a.json': chrony('b') });
    const { out, err, code } = await plan([
      '--offline',
      '-v',
      '-f',
      join(dir, 'fleet'),
      '--from',
      join(dir, 'now.json'),
    ]);
    expect(err).not.toContain('SLW_');
    expect(code).toBe(3);
    expect(out).toMatch(/2 machines \(w-1, w-2\) at rendered-worker-\S+: drain, reboot/);
    expect(out).toContain('1 of 2: 1 machine: w-1\n    2 of 2: 1 machine: w-2');
    expect(out).toContain('Drains: 2 machines; 1 pod evicted\n    w-1: shop/web');
    expect(out).toContain('PodDisruptionBudget shop/web allows no evictions now');
    expect(out).toContain('Time: unknown, the pool has no past rollouts');
    expect(err).not.toContain('left out');
  });

  it('compares a dump with the configs of its pools, also those that the dump lacks, and renders like its controller', async () => {
    const version = { 'machineconfiguration.openshift.io/generated-by-controller-version': 'v4.20-abc' };
    const generated = (role: string) => {
      const { metadata, ...rest } = machineConfig(`00-${role}`, role, [file('/etc/base', 'x')]);
      return { ...rest, metadata: { ...metadata, annotations: version } };
    };
    const pool = (name: string) => {
      const { spec, ...rest } = customPool(name);
      return {
        ...rest,
        spec: { ...spec, configuration: { name: `rendered-${name}-0123456789abcdef0123456789abcdef` } },
      };
    };
    const items = [generated('master'), generated('worker'), pool('infra'), chrony('a')];
    const { out, err } = await plan(['--offline', '-f', await fleet({ 'dump.json': { kind: 'List', items } })]);
    expect(err).toContain('assumed: controller version v4.20-abc, from the manifests\n');
    expect(err).not.toContain('SLW_RENDER_VERSION');
    expect(out).toMatch(/^Pool infra: no machines, rendered-infra-01234567… → rendered-infra-[0-9a-f]{8}…$/m);
  });

  it('names the flag for MachineConfigs of another controller', async () => {
    const { metadata, ...rest } = chrony('a');
    const annotations = { 'machineconfiguration.openshift.io/generated-by-controller-version': 'v4.20-abc' };
    const dir = await fleet({ 'a.json': { ...rest, metadata: { ...metadata, annotations } } });
    const { err, code } = await plan(['--offline', '-f', dir]);
    expect(code).toBe(1);
    expect(err).toMatch(/--controller-version v4\.20-abc \[SLW_RENDER_VERSION\]$/m);
  });

  it('warns about MachineConfigs that no pool selects', async () => {
    const dir = await fleet({ 'a.json': machineConfig('60-typo', 'workers', []) });
    const { err } = await plan(['--offline', '-f', dir]);
    expect(err).toMatch(/^warning: MachineConfig 60-typo, .*Did you mean worker\? \[SLW_RENDER_UNSELECTED\]$/m);
  });

  it('reports every problem with its code after the plan, and exits 1', async () => {
    const dir = await fleet({ 'a.json': machineConfig('50-a', 'worker', [{ path: 'relative' }]) });
    const { out, err, code } = await plan(['--offline', '-f', dir]);
    expect(code).toBe(1);
    expect(out).toContain('Result: this would fail; see the problems below\n');
    expect(out).not.toContain('stays at -');
    expect(err).toMatch(/^slipway: MachineConfigPool worker: MachineConfig 50-a, .*\[SLW_RENDER_INVALID\]$/m);
  });
});

describe('slipway plan with a cluster', () => {
  it.each([
    [
      'an object of another kind',
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } },
      /Secret s: expected MachineConfig/,
    ],
    [
      'a rendered MachineConfig',
      { ...chrony('a'), metadata: { name: 'rendered-worker-1' } },
      /rendered-worker-1 is rendered, and only the render controller/,
    ],
  ])('refuses %s', async (_, object, message) => {
    const { err, out, code } = await plan(['-f', await fleet({ 'a.json': object })]);
    expect({ out, code }).toEqual({ out: '', code: 1 });
    expect(err).toMatch(message);
    expect(err).toContain('[SLW_CLI_PLAN_KIND]');
  });

  it('refuses a MachineConfiguration of another name, and one that breaks its schema', async () => {
    const settings = { apiVersion: 'operator.openshift.io/v1', kind: 'MachineConfiguration', spec: {} };
    const dir = await fleet({
      'a.json': { ...settings, metadata: { name: 'other' } },
      'b.json': { ...settings, metadata: { name: 'cluster' }, spec: { managementState: 'Odd' } },
    });
    const { err } = await plan(['-f', dir]);
    expect(err).toMatch(
      /a\.json, line 1: MachineConfiguration other: expected the name cluster.*\[SLW_CLI_MANIFEST\]$/m,
    );
    expect(err).toMatch(
      /b\.json, line 1: MachineConfiguration cluster, spec\.managementState: .*\[SLW_CLI_MANIFEST\]$/m,
    );
  });

  it('suggests --offline if no cluster is found', async () => {
    vi.stubEnv('KUBECONFIG', '/does/not/exist');
    const { thrown, err } = await plan(['-f', await fleet({ 'a.json': customPool('infra') })]);
    expect(thrown).toBe('SLW_CLI_PLAN_SOURCE');
    expect(err).toContain('--offline');
  });

  it('refuses --from without --offline', async () => {
    const dir = await fleet({ 'a.json': chrony('a') });
    expect(await plan(['-f', dir, '--from', dir])).toMatchObject({ thrown: 'SLW_CLI_USAGE' });
  });
});
