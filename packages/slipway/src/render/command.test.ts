import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { sampleOsImage } from '@slipway/fleet/testing';
import * as fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readYaml } from '../manifests/yaml.ts';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import { renderCommand } from './command.ts';
import './render.ts';

// render.ts is preloaded, so that loading does not count against a test's timeout.

const made: string[] = [];
afterEach(async () => {
  for (const directory of made.splice(0)) await rm(directory, { recursive: true });
});

async function fleet(files: Record<string, string | object>): Promise<string> {
  const directory = await fleetDirectory(files);
  made.push(directory);
  return directory;
}

const render = (args: string[], stdin = '') => runCommand(renderCommand, args, stdin);
const chrony = machineConfig('50-chrony', 'worker', [file('/etc/chrony.conf', 'pool a\n')]);
const infra = machineConfig('60-infra', 'infra', [file('/etc/chrony.conf', 'pool b\n')], {
  kernelArguments: ['nosmt'],
});

describe('slipway render', () => {
  it('uses the images of the pool’s OS image stream if the manifests have an OSImageStream', async () => {
    const stream = (name: string) => ({
      name,
      osImage: sampleOsImage('os', name.at(-1) ?? ''),
      osExtensionsImage: sampleOsImage('ext', '0'),
    });
    const osImageStream = {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'OSImageStream',
      metadata: { name: 'cluster' },
      spec: { defaultStream: 'rhel-9' },
      status: { defaultStream: 'rhel-9', availableStreams: [stream('rhel-9'), stream('rhel-10')] },
    };
    const pool = customPool('infra');
    const asking = { ...pool, spec: { ...pool.spec, osImageStream: { name: 'rhel-10' } } };
    const dir = await fleet({ 'a.json': chrony, 'p.json': asking, 'fleet/s.json': osImageStream });
    const { out, err } = await render(['-f', dir, '--pool', 'infra', '--os-image', 'registry.example/other:1']);
    expect(readYaml('out', out)).toMatchObject({
      metadata: { annotations: { 'slipway.dev/os-image-stream': 'rhel-10' } },
      spec: { osImageURL: sampleOsImage('os', '0'), baseOSExtensionsContainerImage: sampleOsImage('ext', '0') },
    });
    expect(err).toContain('OS image stream rhel-10');
    const worker = await render(['-f', dir, '--pool', 'worker']);
    expect(readYaml('out', worker.out)).toMatchObject({ spec: { osImageURL: sampleOsImage('os', '9') } });
    const without = await render(['-f', join(dir, 'a.json'), '-f', join(dir, 'p.json'), '--pool', 'infra']);
    expect(readYaml('out', without.out)).not.toHaveProperty('spec.osImageURL');
    expect(without.err).toContain('spec.osImageStream of infra is ignored');
  });

  it('prints the MachineConfig that the controller would create, and what it assumed', async () => {
    const dir = await fleet({ 'a.yaml': chrony });
    const { out, err, code } = await render(['-f', dir, '--pool', 'worker', '--os-image', 'registry.example/os:1']);
    expect(code).toBe(0);
    expect(readYaml('out', out)).toMatchObject({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: {
        name: expect.stringMatching(/^rendered-worker-[0-9a-f]{32}$/),
        labels: { 'slipway.dev/pool': 'worker' },
        annotations: { 'machineconfiguration.openshift.io/generated-by-controller-version': expect.any(String) },
      },
      spec: {
        config: { ignition: { version: '3.5.0' }, storage: { files: [{ path: '/etc/chrony.conf', overwrite: true }] } },
        kernelArguments: [],
        osImageURL: 'registry.example/os:1',
      },
    });
    expect(err).toContain('assumed: 00-master, 00-worker: not in the manifests');
    expect(err).toContain('assumed: OS extensions image: not set');
    expect(err).toContain('assumed: MachineConfigPool worker is not in the manifests');
    expect(err).toMatch(
      /rendered-worker-[0-9a-f]{32}: 2 MachineConfigs \(00-worker, 50-chrony\), (\d+ bytes|[\d.]+ kB)/,
    );
  });

  it('renders a custom pool from the worker MachineConfigs, overridden by its own', async () => {
    const dir = await fleet({ 'mcs/a.json': chrony, 'mcs/b.json': infra, 'pool.json': customPool('infra') });
    const { out } = await render(['-f', dir, '--pool', 'infra', '-o', 'json']);
    const { spec } = JSON.parse(out) as { spec: { kernelArguments: string[]; config: unknown } };
    expect(spec.kernelArguments).toEqual(['nosmt']);
    expect(JSON.stringify(spec.config)).toContain('pool%20b');
    expect(JSON.stringify(spec.config)).not.toContain('pool%20a');
  });

  it('gives the pool of arbiters the units of the daemon, and other fleets no such MachineConfig', async () => {
    const role = 'machineconfiguration.openshift.io/role';
    const arbiter = {
      ...customPool('arbiter'),
      spec: { machineConfigSelector: { matchLabels: { [role]: 'arbiter' } } },
    };
    const dir = await fleet({ 'a.json': chrony, 'pool/p.json': arbiter });
    const { out, err } = await render(['-f', dir, '--pool', 'arbiter', '-o', 'ignition']);
    expect(out).toContain('machine-config-daemon-firstboot.service');
    expect(err).toContain('assumed: 00-master, 00-worker, 00-arbiter: not in the manifests');
    const without = await render(['-f', join(dir, 'a.json'), '--pool', 'worker', '-o', 'name']);
    expect(without.err).toContain('assumed: 00-master, 00-worker: not in the manifests');
  });

  it('refuses a pool with an empty selector, and reports what to write', async () => {
    const worker = { ...customPool('worker'), spec: { machineConfigSelector: {} } };
    const dir = await fleet({ 'a.json': chrony, 'p.json': worker });
    const { out, err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect({ out, code }).toEqual({ out: '', code: 1 });
    expect(err).toMatch(
      /^slipway: \S+p\.json, line 1: MachineConfigPool worker, spec\.machineConfigSelector: an empty selector/m,
    );
    expect(err).toMatch(/Set matchLabels to \S+\/role: worker \[SLW_\w+\]$/m);
  });

  it('warns about MachineConfigs that no pool selects', async () => {
    const role = 'machineconfiguration.openshift.io/role';
    const typo = machineConfig('60-typo', 'workers', []);
    const annotated = { ...typo, metadata: { name: '70-annotated', annotations: { [role]: 'worker' } } };
    const dir = await fleet({ 'a.json': chrony, 'b.json': typo, 'c.json': annotated });
    const { err, code } = await render(['-f', dir, '--pool', 'worker', '-o', 'name']);
    expect(code).toBe(0);
    expect(err).toMatch(
      /^warning: MachineConfig 60-typo, .*found "workers"\. Did you mean worker\? \[SLW_RENDER_UNSELECTED\]$/m,
    );
    expect(err).toMatch(/^warning: MachineConfig 70-annotated, metadata\.annotations.*the role must be a label/m);
    expect(err).not.toContain('MachineConfig 50-chrony, ');
  });

  it('names at most ten MachineConfigs that no pool selects', async () => {
    const names = Array.from({ length: 12 }, (_, number) => `50-storage-${number}`);
    const items = names.map((name) => machineConfig(name, 'storage', []));
    const { err } = await render(['-f', await fleet({ 'a.json': { kind: 'List', items } }), '--pool', 'worker']);
    expect(err.match(/^warning: /gm)).toHaveLength(11);
    expect(err).toContain('warning: no pool selects 2 more MachineConfigs either');
  });

  it('prints only the Ignition config, or only the name', async () => {
    const dir = await fleet({ 'a.json': chrony });
    const { out: ignition } = await render(['-f', dir, '--pool', 'worker', '-o', 'ignition']);
    expect(JSON.parse(ignition)).toMatchObject({ ignition: { version: '3.5.0' } });
    const { out: name } = await render(['-f', dir, '--pool', 'worker', '-o', 'name']);
    expect(name).toMatch(/^rendered-worker-[0-9a-f]{32}\n$/);
  });

  it('accepts a dump of a whole cluster, and ignores rendered MachineConfigs in it', async () => {
    const dir = await fleet({ 'a.json': chrony });
    const first = await render(['-f', dir, '--pool', 'worker', '-o', 'json']);
    const metadata = { ...chrony.metadata, uid: 'u', resourceVersion: '7', generation: 1, managedFields: [{}] };
    const items = [
      { ...chrony, metadata },
      JSON.parse(first.out) as object,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'kube-system' }, data: {} },
      { ...customPool('infra'), status: { machineCount: 3 } },
    ];
    const dump = JSON.stringify({ apiVersion: 'v1', kind: 'List', items, metadata: { resourceVersion: '' } });
    const again = await render(['-f', '-', '--pool', 'worker', '-o', 'json'], dump);
    expect(again.out).toBe(first.out);
    expect(again.err).toContain('ignored: 1 other object (ConfigMap 1)');
    expect(again.err).toContain('rendered MachineConfigs in the manifests (1): ignored');
  });

  const generated = (name: string, role: string, version: string) => {
    const { metadata, ...rest } = machineConfig(name, role, [file(`/etc/${name}`, name)]);
    const annotations = { 'machineconfiguration.openshift.io/generated-by-controller-version': version };
    return { ...rest, metadata: { ...metadata, annotations } };
  };
  const base = (version: string) => [
    generated('00-master', 'master', version),
    generated('00-worker', 'worker', version),
  ];

  it('renders a dump like the controller of its cluster', async () => {
    const dir = await fleet({ 'a.json': { kind: 'List', items: [...base('v4.20-abc'), chrony] } });
    const { out, err } = await render(['-f', dir, '--pool', 'worker', '-o', 'json']);
    expect(err).toContain('assumed: controller version v4.20-abc, from the manifests\n');
    expect(err).not.toContain('built-in ones are used');
    expect(JSON.parse(out)).toMatchObject({
      metadata: { annotations: { 'machineconfiguration.openshift.io/generated-by-controller-version': 'v4.20-abc' } },
    });
    const asked = await render(['-f', dir, '--pool', 'worker', '--controller-version', 'other']);
    expect(asked.err).toContain('expected other, found v4.20-abc');
  });

  it('assumes no version for part of a cluster, and names the one to pass', async () => {
    const dir = await fleet({ 'a.json': generated('97-worker-generated', 'worker', 'v4.20-abc') });
    const { err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect(code).toBe(1);
    expect(err).toMatch(/found v4\.20-abc\. .*: --controller-version v4\.20-abc \[SLW_RENDER_VERSION\]$/m);
    const passed = await render(['-f', dir, '--pool', 'worker', '--controller-version', 'v4.20-abc']);
    expect(passed).toMatchObject({ code: 0 });
  });

  it('names no version if the manifests have several', async () => {
    const dir = await fleet({ 'a.json': { kind: 'List', items: [...base('v1'), generated('98-x', 'worker', 'v2')] } });
    const { err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect(code).toBe(1);
    expect(err).toContain('[SLW_RENDER_VERSION]');
    expect(err).not.toContain('--controller-version');
  });

  it('prints one line per problem, and no result', async () => {
    const dir = await fleet({
      'a.json': machineConfig('50-a', 'worker', [{ path: 'relative' }]),
      'b.json': machineConfig('60-b', 'worker', [], { kernelType: 'fast' }),
    });
    const { out, err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect({ out, code }).toEqual({ out: '', code: 1 });
    expect(err).toMatch(
      /^slipway: \S+a\.json, line 1: MachineConfig 50-a, spec\.config\.storage\.files\[0\]\.path: .*\[SLW_RENDER_INVALID\]$/m,
    );
    expect(err).toMatch(
      /^slipway: \S+b\.json, line 1: MachineConfig 60-b, spec\.kernelType: .*\[SLW_RENDER_KERNEL_TYPE\]$/m,
    );
  });

  it('refuses invalid manifests, naming file and field', async () => {
    const dir = await fleet({ 'a.yaml': 'a: [', 'b.json': { ...chrony, spec: { fips: 'yes' } } });
    const { err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect(code).toBe(1);
    expect(err).toMatch(/a\.yaml, line 1: .* \[SLW_CLI_MANIFEST\]$/m);
    expect(err).toMatch(/b\.json, line 1: MachineConfig 50-chrony, spec\.fips: .* \[SLW_CLI_MANIFEST\]$/m);
  });

  it('reports files of other tools like slipway validate: errors end it, warnings do not', async () => {
    const kubeletConfig = { apiVersion: chrony.apiVersion, kind: 'KubeletConfig', metadata: { name: 'a' } };
    const dir = await fleet({ 'a.json': kubeletConfig, 'b.json': chrony });
    const { err, code } = await render(['-f', dir, '--pool', 'worker']);
    expect(err).toMatch(/^warning: \S+a\.json, line 1: KubeletConfig a: nothing in Slipway acts on this kind/m);
    expect(code).toBe(0);
    const butane = await fleet({ 'a.yaml': 'variant: openshift\nversion: 4.18.0\n', 'b.json': chrony });
    const refused = await render(['-f', butane, '--pool', 'worker']);
    expect(refused.err).toMatch(/^slipway: \S+a\.yaml, line 1: it is a Butane config, .* \[SLW_CLI_FOREIGN\]$/m);
    expect(refused.code).toBe(1);
    const only = await render(['-f', join(dir, 'a.json'), '--pool', 'worker']);
    expect(only.err).toMatch(/KubeletConfig a: nothing .*\n.*expected MachineConfigs and MachineConfigPools/);
  });

  it('refuses manifests without any object of a fleet', async () => {
    const dir = await fleet({ 'a.yaml': 'apiVersion: v1\nkind: Secret\n' });
    expect(await render(['-f', dir, '--pool', 'worker'])).toMatchObject({ thrown: 'SLW_CLI_MANIFEST', code: 1 });
  });
});

describe('remote content', () => {
  async function withServer(test: (url: string) => Promise<void>): Promise<void> {
    const server = createServer((_, response) => response.end('from afar')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`);
    } finally {
      server.close();
    }
  }
  const remote = (url: string) =>
    machineConfig('50-remote', 'worker', [{ path: '/etc/remote', mode: 0o644, contents: { source: url } }]);

  it('is fetched into the result, which has the same name as with inline content', () =>
    withServer(async (url) => {
      const far = await fleet({ 'a.json': remote(url) });
      const near = await fleet({ 'a.json': remote('data:,from%20afar') });
      const args = ['--pool', 'worker', '-o', 'json'];
      const fetched = await render(['-f', far, ...args, '--allow-address', '127.0.0.0/8']);
      expect(fetched.err).not.toContain('SLW_');
      expect(fetched.out).toBe((await render(['-f', near, ...args])).out);
    }));

  it.each([
    ['is refused from an address that is not allowed', [], 'SLW_RESOLVE_HOST'],
    ['is not fetched with --no-fetch', ['--no-fetch'], 'SLW_RENDER_REMOTE'],
  ])('%s', (_, flags, expected) =>
    withServer(async (url) => {
      const far = await fleet({ 'a.json': remote(url) });
      const { err, code } = await render(['-f', far, '--pool', 'worker', ...flags]);
      expect(code).toBe(1);
      expect(err).toContain('MachineConfig 50-remote');
      expect(err).toContain(`[${expected}]`);
    }),
  );

  it.each(['http://10.1.2.3/x', 'http://192.168.1.1/x', 'http://[fd12::3]/x', 'http://0xa010203/x'])(
    'is refused from a private network, which a change of a stranger must not read: %s',
    async (url) => {
      const far = await fleet({ 'a.json': remote(url) });
      const { err, code } = await render(['-f', far, '--pool', 'worker', '--fetch-timeout', '1']);
      expect(code).toBe(1);
      expect(err).toMatch(
        /it is an address of a private network; if it is intended, allow it with --allow-address \S+\/(32|128) \[SLW_RESOLVE_HOST\]$/m,
      );
    },
  );
});

describe('for any order and distribution of the objects over files', () => {
  const objects = [
    chrony,
    infra,
    customPool('infra'),
    machineConfig('50-a', 'worker', [file('/etc/a', 'a')], { extensions: ['usbguard'] }),
    machineConfig('70-a', 'infra', [file('/etc/a', 'b', 0o600)]),
  ];
  let expected: string;
  beforeAll(async () => {
    const dir = await fleetDirectory({ 'all.json': { apiVersion: 'v1', kind: 'List', items: objects } });
    expected = (await render(['-f', dir, '--pool', 'infra'])).out;
    await rm(dir, { recursive: true });
  });

  it('the result is identical to the byte', async () => {
    const order = fc.shuffledSubarray(objects, { minLength: objects.length });
    await fc.assert(
      fc.asyncProperty(order, fc.integer({ min: 1, max: objects.length }), async (shuffled, split) => {
        const dir = await fleetDirectory({ 'z/b.json': { kind: 'List', items: shuffled.slice(split) } });
        const documents = shuffled.slice(0, split).map((each) => `---\n${JSON.stringify(each)}\n`);
        await writeFile(join(dir, 'a.yaml'), documents.join(''));
        expect(await readFile(join(dir, 'a.yaml'), 'utf8')).not.toBe('');
        expect((await render(['-f', dir, '--pool', 'infra'])).out).toBe(expected);
        await rm(dir, { recursive: true });
      }),
      { numRuns: 20 },
    );
  });
});
