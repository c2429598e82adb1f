import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bootstrapPaths, createBootstrapSource } from './bootstrap-source.ts';

const api = { apiVersion: 'machineconfiguration.openshift.io/v1' };
const rendered = `rendered-worker-${'0'.repeat(32)}`;
const token = { token: 't'.repeat(43), created: '2026-01-01T00:00:00Z', expires: '2026-01-02T00:00:00Z' };
const pool = {
  ...api,
  kind: 'MachineConfigPool',
  metadata: { name: 'worker' },
  spec: { configuration: { name: rendered } },
};
const machineConfig = {
  ...api,
  kind: 'MachineConfig',
  metadata: { name: rendered },
  spec: { kernelArguments: ['quiet'] },
};

let directory: string;
const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), text);
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-server-'));
  await write(bootstrapPaths.pool('worker'), JSON.stringify(pool));
  await write(bootstrapPaths.machineConfig(rendered), JSON.stringify(machineConfig));
  await write(bootstrapPaths.certificate, 'CERT');
  await write(bootstrapPaths.key, 'KEY');
  await write(bootstrapPaths.tokens, JSON.stringify({ worker: [token] }));
  await write(bootstrapPaths.kubeconfig, 'CONFIG');
  await write(bootstrapPaths.caBundle, 'CA');
});
afterEach(() => rm(directory, { recursive: true }));

describe('a bootstrap directory', () => {
  it('provides everything that a cluster would', async () => {
    const source = await createBootstrapSource(directory, true);
    expect(source.read()).toEqual({
      pools: new Map([['worker', rendered]]),
      tokens: new Map([['worker', [token]]]),
      certificate: { cert: 'CERT', key: 'KEY' },
      node: { kubeconfig: 'CONFIG', caBundle: 'CA' },
      problems: [],
    });
    expect(await source.load(rendered)).toMatchObject({
      metadata: { name: rendered },
      spec: { kernelArguments: ['quiet'] },
    });
  });

  it('needs no tokens if machines are served without one', async () => {
    await rm(join(directory, bootstrapPaths.tokens));
    expect((await createBootstrapSource(directory, false)).read().tokens.size).toBe(0);
    await expect(createBootstrapSource(directory, true)).rejects.toMatchObject({
      code: 'SLW_SERVER_INPUT',
      message: expect.stringContaining('tokens.json does not exist'),
    });
  });

  it.each([
    ['a pool that is no pool', bootstrapPaths.pool('worker'), '{"kind":"Pod"}', /worker\.json: apiVersion: must be/],
    ['a pool that is no JSON', bootstrapPaths.pool('worker'), 'secret{', /worker\.json is not JSON$/],
    ['an empty key', bootstrapPaths.key, '', /tls\.key has 0 characters/],
    ['damaged tokens', bootstrapPaths.tokens, '{"worker":["secret"]}', /tokens of pool worker are not a list/],
    ['tokens of another form', bootstrapPaths.tokens, '7', /tokens\.json: expected an object/],
    ['tokens of no pool', bootstrapPaths.tokens, '[[]]', /tokens\.json: expected an object/],
  ])('is refused with %s, by the name of the file and without its contents', async (_, path, text, message) => {
    await write(path, text);
    const refused = createBootstrapSource(directory, true);
    await expect(refused).rejects.toMatchObject({ code: 'SLW_SERVER_INPUT', message: expect.stringMatching(message) });
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
  });

  it('is refused without a pool', async () => {
    await rm(join(directory, bootstrapPaths.pool('worker')));
    await expect(createBootstrapSource(directory, true)).rejects.toMatchObject({
      message: expect.stringContaining('contains no pool'),
    });
  });

  it('reports which rendered config is missing', async () => {
    const source = await createBootstrapSource(directory, true);
    await expect(source.load('rendered-worker-1')).rejects.toMatchObject({
      code: 'SLW_SERVER_INPUT',
      message: expect.stringContaining('rendered-worker-1.json does not exist'),
    });
  });
});
