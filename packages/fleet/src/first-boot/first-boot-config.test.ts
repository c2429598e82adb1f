import { generatedByAnnotation, type MachineConfig, type MachineConfigPool } from '@slipway/api';
import { type ConfigOf, decodeDataUrl, gunzip, hasErrors, parse, validate } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import type { RolloutState } from '../rollout/facts.ts';
import { samplePool } from '../testing/sample-pool.ts';
import { firstBootConfig, servedConfig, buildStub } from './first-boot-config.ts';

const node = { kubeconfig: 'kind: Config\n', caBundle: '-----BEGIN CERTIFICATE-----\n' };
const name = `rendered-worker-${'0'.repeat(32)}`;

const machineConfig = (storage: object = {}): MachineConfig => ({
  metadata: {
    name,
    uid: '1',
    resourceVersion: '2',
    labels: { 'slipway.dev/in-use': '' },
    annotations: { [generatedByAnnotation]: '0.1.0', other: 'x' },
  },
  spec: {
    config: { ignition: { version: '3.5.0' }, storage },
    kernelArguments: ['quiet'],
    osImageURL: 'registry/os@x',
  },
});

async function read(config: ConfigOf<'3.5.0'>, path: string): Promise<{ text: string; mode: number | undefined }> {
  const file = config.storage?.files?.find((file) => file.path === path);
  return { text: await decodeText(file?.contents ?? {}), mode: file?.mode };
}

async function decodeText({ source = '', compression }: { source?: string; compression?: string }): Promise<string> {
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) throw new Error(decoded.problem);
  const unpacked = compression === 'gzip' ? await gunzip(decoded.bytes, { maxBytes: 1e6 }) : decoded;
  if (!unpacked.ok) throw new Error(unpacked.problem);
  return new TextDecoder().decode(unpacked.bytes);
}

describe('the config of a first boot', () => {
  it('records which config the node runs', async () => {
    const config = await firstBootConfig(machineConfig(), node);
    const { text, mode } = await read(config, '/etc/machine-config-daemon/node-annotations.json');
    expect(JSON.parse(text)).toEqual({
      'machineconfiguration.openshift.io/currentConfig': name,
      'machineconfiguration.openshift.io/desiredConfig': name,
      'machineconfiguration.openshift.io/state': 'Done',
    });
    expect(mode).toBe(0o644);
  });

  it('has the kubeconfig of the kubelet, readable only by root, and the CAs of the API server', async () => {
    const config = await firstBootConfig(machineConfig(), node);
    expect(await read(config, '/etc/kubernetes/kubeconfig')).toEqual({ text: node.kubeconfig, mode: 0o600 });
    expect(await read(config, '/etc/kubernetes/ca.crt')).toEqual({ text: node.caBundle, mode: 0o644 });
  });

  it('has the whole MachineConfig, readable only by root, without fields of the API server', async () => {
    const storage = { files: [{ path: '/etc/big', contents: { source: `data:,${'x'.repeat(5000)}` } }] };
    const config = await firstBootConfig(machineConfig(storage), node);
    const { text, mode } = await read(config, '/etc/ignition-machine-config-encapsulated.json');
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfig',
      metadata: { name, annotations: { [generatedByAnnotation]: '0.1.0' } },
      spec: machineConfig(storage).spec,
    });
    expect(mode).toBe(0o600);
    expect(JSON.stringify(config).length).toBeLessThan(7500);
  });

  it('includes the rendered config', async () => {
    const file = { path: '/etc/motd', mode: 0o644, contents: { source: 'data:,hello' } };
    const disks = [{ device: '/dev/vda', wipeTable: true }];
    const config = await firstBootConfig(machineConfig({ files: [file], disks }), node);
    expect(config.storage).toMatchObject({ disks });
    expect(config.storage?.files?.map(({ path }) => path)).toEqual([
      '/etc/motd',
      '/etc/machine-config-daemon/node-annotations.json',
      '/etc/kubernetes/kubeconfig',
      '/etc/kubernetes/ca.crt',
      '/etc/ignition-machine-config-encapsulated.json',
    ]);
    expect(hasErrors(validate(config))).toBe(false);
  });

  it.each([
    ['file', { files: [{ path: '/etc/kubernetes/kubeconfig', contents: { source: 'data:,theirs' } }] }],
    ['directory', { directories: [{ path: '/etc/kubernetes/kubeconfig' }] }],
    ['link', { links: [{ path: '/etc/kubernetes/kubeconfig', target: '/tmp/theirs' }] }],
  ])('replaces a %s of the rendered config at the same path', async (_, storage) => {
    const config = await firstBootConfig(machineConfig(storage), node);
    expect(await read(config, '/etc/kubernetes/kubeconfig')).toMatchObject({ text: node.kubeconfig });
    expect(hasErrors(validate(config))).toBe(false);
  });

  it('accepts rendered configs of an older spec', async () => {
    const old = { metadata: { name }, spec: { config: { ignition: { version: '3.2.0' } } } };
    expect((await firstBootConfig(old, node)).ignition.version).toBe('3.5.0');
  });

  it.each([
    ['none', undefined, 'spec.config.ignition.version'],
    ['a broken one', { ignition: { version: '3.5.0' }, storage: { files: 7 } }, 'spec.config.storage.files'],
  ])('names the object and the field when the Ignition config is %s', async (_, config, field) => {
    const broken: MachineConfig = { metadata: { name }, spec: config === undefined ? {} : { config } };
    await expect(firstBootConfig(broken, node)).rejects.toMatchObject({
      code: 'SLW_FIRST_BOOT_CONFIG',
      message: expect.stringContaining(`MachineConfig ${name}, ${field}: `),
    });
  });
});

const rendered = (digit: string, pool = 'worker') => `rendered-${pool}-${digit.repeat(32)}`;
const [old, next, held] = [rendered('a'), rendered('b'), rendered('c')];

interface PoolFields {
  spec?: string;
  status?: string;
  target?: string;
  state?: Partial<RolloutState>;
  /** How many machines have the target. */
  updated?: number;
  machines?: number;
}

function pool({ spec, status, target, state, updated = 2, machines = 3 }: PoolFields): MachineConfigPool {
  const { metadata } = samplePool({
    ...(target !== undefined && { held: target }),
    ...(state !== undefined && { state: { from: null, ...state } }),
  });
  return {
    metadata,
    spec: spec === undefined ? {} : { configuration: { name: spec } },
    status: {
      machineCount: machines,
      updatedMachineCount: updated,
      ...(status !== undefined && { configuration: { name: status } }),
    },
  };
}

const hold = { instead: next, at: '2026-01-01T00:00:00.000Z', why: 'x' };
const rolledBack = { target: held, hold: { ...hold, kind: 'rollback' } } as const;
const cancelled = { target: held, hold: { ...hold, kind: 'cancel' } } as const;
const ended = '2026-01-01T00:00:00.000Z';
const halted = { at: ended, node: 'worker-2', reason: 'x' };
const endedAtOld = { target: old, endedAt: ended } as const;
const firstWave = { target: next, from: old } as const;

describe('the config for new machines', () => {
  it.each<[string, PoolFields, string | undefined]>([
    ['none, while nothing is rendered', {}, undefined],
    ['the first one, in a new pool', { spec: next }, next],
    ['the current one, before the rollout of the new one starts', { spec: next, status: old }, old],
    ['the current one, in the first wave', { spec: next, status: old, state: { target: next } }, old],
    ['the new one, in the second wave', { spec: next, status: old, state: { target: next, wave: 2 } }, next],
    [
      'the current one, in the second wave, while only the canary reports the new one',
      { spec: next, status: old, state: { target: next, wave: 2 }, updated: 1 },
      old,
    ],
    [
      'the current one, in the second wave, while the rollout is halted',
      { spec: next, status: old, state: { target: next, wave: 2, halted } },
      old,
    ],
    [
      'the new one, once the rollout ended in a pool of one machine',
      { spec: next, status: old, state: { target: next, endedAt: ended }, updated: 1 },
      next,
    ],
    ['the new one, once the rollout ended', { spec: next, status: old, state: { target: next, endedAt: ended } }, next],
    [
      'the current one, in a later wave of another rollout',
      { spec: next, status: old, state: { target: held, wave: 2 } },
      old,
    ],
    ['the new one, where the pool has no current one', { spec: next }, next],
    ['the new one, where the pool has no machines', { spec: next, status: next, state: endedAtOld }, next],
    [
      'the new one, before the status of a pool without machines names it',
      { spec: next, status: old, machines: 0 },
      next,
    ],
    [
      'the new one, before the status of a pool that lost its machines names it',
      { spec: next, status: old, state: endedAtOld, machines: 0 },
      next,
    ],
    [
      'the current one, in a pool that lost its machines while its rollout was halted',
      { spec: next, status: old, state: { target: next, from: old, halted }, machines: 0 },
      old,
    ],
    ['the last good one, in the first wave after that', { spec: next, status: next, state: firstWave }, old],
    [
      'the new one, in the first wave of a pool that never had another',
      { spec: next, status: next, state: { target: next } },
      next,
    ],
    ['the current one, while the new one is being rendered', { status: old }, old],
    ['the held one, in a new pool', { spec: next, target: held }, held],
    [
      'the held one, in the second wave',
      { spec: next, status: old, target: held, state: { ...rolledBack, wave: 2 } },
      held,
    ],
    [
      'the current one, in the first wave to the held one',
      { spec: next, status: old, target: held, state: rolledBack },
      old,
    ],
    [
      'the last good one that a cancelled rollout returns to',
      { spec: next, status: old, target: held, state: cancelled },
      held,
    ],
    ['the new one, where the hold is empty', { spec: next, target: '' }, next],
    [
      'the current one, where the target is another pool’s',
      { spec: next, status: old, target: rendered('a', 'master') },
      old,
    ],
    ['the current one, where the target is a bare piece', { spec: next, status: old, target: '99-worker-motd' }, old],
    ['the current one, where spec.configuration is a bare piece', { spec: '99-worker-motd', status: old }, old],
    [
      'none, where the status is a config of a pool with a longer name',
      { status: rendered('a', 'worker-gpu') },
      undefined,
    ],
    ['none, where the only target is refused', { target: '99-worker-motd' }, undefined],
  ])('is %s', (_, given, expected) => {
    expect(servedConfig(pool(given))).toBe(expected);
  });
});

const caBundle = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'.repeat(2);
const request = { server: 'https://api-int.example.com:22623', pool: 'worker', caBundle };

describe('a stub', () => {
  it.each([
    ['with a token', { ...request, token: 'abc-_123' }],
    ['without a token', request],
    ['for a server with an IPv6 address', { ...request, server: 'https://[fd00::5]:22623/' }],
  ])('%s is a config that Ignition accepts without warnings', (_, each) => {
    const parsed = parse(JSON.stringify(buildStub(each)));
    expect(parsed.report).toEqual([]);
    expect(parsed.config !== null && validate(parsed.config)).toEqual([]);
  });

  it('requests the gzipped config of its pool, with the token in a header', () => {
    expect(buildStub({ ...request, token: 'abc' }).ignition.config?.merge).toEqual([
      {
        source: 'https://api-int.example.com:22623/config/worker?compression=gzip',
        compression: 'gzip',
        httpHeaders: [{ name: 'Authorization', value: 'Bearer abc' }],
      },
    ]);
  });

  it('has no header if machines need no token', () => {
    expect(JSON.stringify(buildStub(request))).not.toContain('Authorization');
  });

  it('contains the whole CA bundle, byte for byte', () => {
    const [authority] = buildStub(request).ignition.security?.tls?.certificateAuthorities ?? [];
    const decoded = decodeDataUrl(authority?.source ?? '');
    expect(decoded.ok && new TextDecoder().decode(decoded.bytes)).toBe(caBundle);
  });
});
