import { X509Certificate } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeAuthority } from '@slipway/base/certificates';
import { sampleOsImage } from '@slipway/fleet/testing';
import { parse, validate } from '@slipway/ignition';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readYaml } from '../manifests/yaml.ts';
import { customPool, file, fleetDirectory, machineConfig } from '../testing/fleet-directory.ts';
import { runCommand } from '../testing/run-command.ts';
import './bootstrap.ts';
import { bootstrapCommand } from './command.ts';

// bootstrap.ts is preloaded, so that loading does not count against a test's timeout.

const osImage = sampleOsImage('os', '9');
let dir: string;
let apiCa: string;
beforeAll(async () => {
  apiCa = (await makeAuthority(new Date(), 3_600_000)).certificate;
  const cluster = {
    server: 'https://api.example.com:6443',
    'certificate-authority-data': Buffer.from(apiCa).toString('base64'),
  };
  dir = await fleetDirectory({
    'fleet/a.json': machineConfig('50-a', 'worker', [file('/etc/a', 'a')]),
    'fleet/p.json': { ...customPool('infra'), status: { machineCount: 1 } },
    'streams/s.json': {
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'OSImageStream',
      metadata: { name: 'cluster' },
      spec: { defaultStream: 'rhel-9' },
      status: {
        defaultStream: 'rhel-9',
        availableStreams: [{ name: 'rhel-9', osImage, osExtensionsImage: osImage }],
      },
    },
    'arbiter/p.json': {
      ...customPool('arbiter'),
      spec: { machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': 'arbiter' } } },
    },
    'bad/a.json': machineConfig('50-bad', 'worker', [{ path: 'relative' }]),
    'node.kubeconfig': {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    },
  });
});
afterAll(() => rm(dir, { recursive: true }));

const bootstrap = (out: string, ...more: string[]) =>
  runCommand(bootstrapCommand, [
    `--filename=${join(dir, 'fleet')}`,
    `--out=${join(dir, out)}`,
    '--server-url=https://boot.example.com:22623',
    `--kubeconfig-for-nodes=${join(dir, 'node.kubeconfig')}`,
    ...more,
  ]);
const read = (...path: string[]) => readFile(join(dir, ...path), 'utf8');
const json = async (...path: string[]): Promise<unknown> => JSON.parse(await read(...path));
const readAuthority = async (out: string) =>
  readYaml('ca', await read(out, 'manifests/30-secret-machine-config-server-ca.yaml'));

describe('slipway bootstrap', () => {
  let said: string;
  beforeAll(async () => {
    const { out, err, code } = await bootstrap('boot');
    if (code !== 0) throw new Error(`slipway bootstrap failed: ${err}`);
    said = out;
  });

  it('renders every pool, including the default ones, and points each to its config', async () => {
    expect((await readdir(join(dir, 'boot/pools'))).sort()).toEqual(['infra.json', 'master.json', 'worker.json']);
    const pool = await json('boot/pools/infra.json');
    expect(pool).toMatchObject({
      spec: {
        configuration: {
          name: expect.stringMatching(/^rendered-infra-[0-9a-f]{32}$/),
          source: [{ name: '00-worker' }, { name: '50-a' }],
        },
      },
    });
    expect(pool).not.toHaveProperty('status');
    const { spec } = pool as { spec: { configuration: { name: string } } };
    expect(await json(`boot/machine-configs/${spec.configuration.name}.json`)).toMatchObject({ kind: 'MachineConfig' });
    expect(said).toContain(spec.configuration.name);
  });

  it('boots arbiters with the units of the daemon', async () => {
    const { code } = await bootstrap('boot-arbiter', `--filename=${join(dir, 'arbiter')}`);
    expect(code).toBe(0);
    const { spec } = (await json('boot-arbiter/pools/arbiter.json')) as { spec: { configuration: { name: string } } };
    const config = await read(`boot-arbiter/machine-configs/${spec.configuration.name}.json`);
    expect(config).toContain('machine-config-daemon-firstboot.service');
    expect(await json('boot-arbiter/arbiter.ign')).toMatchObject({
      ignition: { config: { merge: [{ source: expect.stringContaining('/config/arbiter') }] } },
    });
    expect((await readdir(join(dir, 'boot-arbiter/manifests'))).join(' ')).toContain('00-arbiter');
    expect((await readdir(join(dir, 'boot/manifests'))).join(' ')).not.toContain('00-arbiter');
  });

  it('creates a stub for each pool that trusts the CA of the serving certificate and has a token of the pool', async () => {
    const stub = await json('boot/worker.ign');
    const { config } = parse(stub as object);
    expect(config).not.toBeNull();
    expect(config === null ? [] : validate(config)).toEqual([]);
    const tokens = (await json('boot/tokens.json')) as Record<string, { token: string }[]>;
    expect(stub).toMatchObject({
      ignition: {
        config: {
          merge: [
            {
              source: 'https://boot.example.com:22623/config/worker?compression=gzip',
              httpHeaders: [{ name: 'Authorization', value: `Bearer ${tokens['worker']?.[0]?.token}` }],
            },
          ],
        },
      },
    });
    const serving = new X509Certificate(await read('boot/tls/tls.crt'));
    expect(serving.checkHost('boot.example.com')).toBe('boot.example.com');
    const { data } = (await readAuthority('boot')) as { data: Record<string, string> };
    const ca = Buffer.from(data['tls.crt'] ?? '', 'base64').toString();
    expect(serving.verify(new X509Certificate(ca).publicKey)).toBe(true);
    const inStub = decodeURIComponent(JSON.stringify(stub)).replaceAll(/\s|\\n/g, '');
    expect(inStub.includes(ca.replaceAll(/\s/g, '')) || inStub.includes(Buffer.from(ca).toString('base64'))).toBe(true);
  });

  it('passes the kubeconfig unchanged to joining machines, with its CA', async () => {
    expect(await read('boot/kubeconfig')).toBe(await read('node.kubeconfig'));
    expect((await read('boot/ca.crt')).trim()).toBe(apiCa.trim());
  });

  it('does not check paths in the kubeconfig, which refer to the new machine', async () => {
    const cluster = { server: 'https://api.example.com:6443', 'certificate-authority': '/on/the/machine/ca.crt' };
    const kubeconfig = {
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { tokenFile: '/on/it/token' } }],
    };
    await writeFile(join(dir, 'paths.kubeconfig'), JSON.stringify(kubeconfig));
    await writeFile(join(dir, 'api-ca.crt'), apiCa);
    const flags = ['--kubeconfig-for-nodes', join(dir, 'paths.kubeconfig'), '--ca', join(dir, 'api-ca.crt')];
    expect(await bootstrap('paths', ...flags)).toMatchObject({ code: 0 });
    expect(await json('paths/kubeconfig')).toEqual(kubeconfig);
  });

  it('starts pools on the OS image streams of the manifests, and records them', async () => {
    const { code } = await bootstrap('on-streams', '-f', join(dir, 'streams'), '--pool', 'infra');
    expect(code).toBe(0);
    const pool = await json('on-streams/pools/infra.json');
    expect(pool).toMatchObject({
      metadata: {
        annotations: {
          'slipway.dev/os-image-stream': 'rhel-9',
          'slipway.dev/os-image-stream-images': JSON.stringify({ osImage, osExtensionsImage: osImage }),
        },
      },
    });
    const { spec } = pool as { spec: { configuration: { name: string } } };
    expect(await json(`on-streams/machine-configs/${spec.configuration.name}.json`)).toMatchObject({
      metadata: { annotations: { 'slipway.dev/os-image-stream': 'rhel-9' } },
      spec: { osImageURL: osImage },
    });
    expect(await json('boot/pools/infra.json')).not.toHaveProperty('metadata.annotations');
  });

  it('lets no other user read the files, and prints no token', async () => {
    const entries = await readdir(join(dir, 'boot'), { recursive: true, withFileTypes: true });
    const modes = await Promise.all(
      entries.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mode & 0o077),
    );
    expect(modes.length).toBeGreaterThan(15);
    expect(modes.every((bits) => bits === 0)).toBe(true);
    expect((await stat(join(dir, 'boot'))).mode & 0o777).toBe(0o700);
    const tokens = (await json('boot/tokens.json')) as Record<string, { token: string }[]>;
    for (const token of Object.values(tokens).flat()) expect(said).not.toContain(token.token);
  });

  it('refuses a directory that is not empty', async () => {
    await mkdir(join(dir, 'full'));
    await writeFile(join(dir, 'full/mine'), '');
    expect(await bootstrap('full')).toMatchObject({ thrown: 'SLW_CLI_OUT', out: '' });
    expect(await readdir(join(dir, 'full'))).toEqual(['mine']);
  });

  it('writes nothing if a pool cannot be rendered, and reports a problem of two pools once', async () => {
    const { code, err } = await bootstrap('never', '-f', join(dir, 'bad'));
    expect(code).toBe(1);
    expect(err.match(/SLW_RENDER_INVALID/g)).toHaveLength(1);
    expect((await readdir(dir)).filter((name) => name.includes('never'))).toEqual([]);
  });

  it('reuses the CA and tokens of an earlier run, so that its stubs stay valid', async () => {
    const { code } = await bootstrap('again', '--keep-from', join(dir, 'boot'), '--pool', 'worker');
    expect(code).toBe(0);
    expect(await readAuthority('again')).toEqual(await readAuthority('boot'));
    expect(await read('again/worker.ign')).toBe(await read('boot/worker.ign'));
    expect(await read('again/tls/tls.crt')).not.toBe(await read('boot/tls/tls.crt'));
    expect(await readdir(join(dir, 'again/pools'))).toEqual(['worker.json']);
  });

  it.each([
    ['an invalid address', ['--server-url', 'http://x'], 'SLW_FIRST_BOOT_OPTIONS'],
    ['an invalid CA', ['--ca', 'package.json'], 'SLW_CLI_BOOTSTRAP_INPUT'],
    ['missing image references', ['--image-references', 'nowhere'], 'SLW_CLI_FILE'],
    ['a directory without an earlier CA', ['--keep-from', 'docs'], 'SLW_CLI_BOOTSTRAP_INPUT'],
    ['an invalid kubeconfig', ['--kubeconfig-for-nodes', 'package.json'], 'SLW_CLI_BOOTSTRAP_INPUT'],
  ])('refuses %s', async (_, flags, code) => {
    expect(await bootstrap('refused', ...flags)).toMatchObject({ thrown: code, out: '' });
  });
});
