import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { canonicalJson, renderedName } from '@slipway/fleet';
import { bootstrapPaths } from '@slipway/server';
import { pickFreePort } from '@slipway/tools/controlplane';
import { startService } from '@slipway/tools/run';

const command = resolve(import.meta.dirname, '../../slipway');

export const POOL = 'worker';
export const token = 'b'.repeat(43);

/** Each file has 3 kB of incompressible data, like keys and images: the response contains them twice. */
const FILES = 128;
const FILE_BYTES = 3000;

/** A directory as written by `slipway bootstrap`, with a config whose response has about a megabyte. */
export async function writeBootstrap(directory: string, certificate: { cert: string; key: string }): Promise<void> {
  const api = { apiVersion: 'machineconfiguration.openshift.io/v1' };
  const spec = { config: { ignition: { version: '3.5.0' }, storage: { files: makeFiles() } } };
  const rendered = renderedName(POOL, canonicalJson(spec));
  const contents: Record<string, string> = {
    [bootstrapPaths.pool(POOL)]: JSON.stringify({
      ...api,
      kind: 'MachineConfigPool',
      metadata: { name: POOL },
      spec: { configuration: { name: rendered } },
    }),
    [bootstrapPaths.machineConfig(rendered)]: JSON.stringify({
      ...api,
      kind: 'MachineConfig',
      metadata: { name: rendered },
      spec,
    }),
    [bootstrapPaths.certificate]: certificate.cert,
    [bootstrapPaths.key]: certificate.key,
    [bootstrapPaths.tokens]: JSON.stringify({
      [POOL]: [{ token, created: '2026-01-01T00:00:00Z', expires: '2999-01-01T00:00:00Z' }],
    }),
    [bootstrapPaths.kubeconfig]: 'apiVersion: v1\nkind: Config\n',
    [bootstrapPaths.caBundle]: certificate.cert,
  };
  for (const [path, text] of Object.entries(contents)) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: 0o600 });
  }
}

function makeFiles(): object[] {
  let state = 1;
  const byte = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state & 0xff;
  };
  return Array.from({ length: FILES }, (_, index) => ({
    path: `/etc/app/${index}`,
    mode: 0o644,
    overwrite: true,
    contents: { source: `data:;base64,${Buffer.from(Array.from({ length: FILE_BYTES }, byte)).toString('base64')}` },
  }));
}

const READY_MS = 120_000;

export interface OurServer {
  port: number;
  pids: number[];
  stop(): Promise<void>;
}

/** The command as in production: it checks tokens, and logs and counts every request. */
export async function startOurServer(directory: string): Promise<OurServer> {
  const port = await pickFreePort();
  const probes = await pickFreePort([port]);
  const flags = ['--bootstrap', directory, '--listen', `127.0.0.1:${port}`, '--probes', `127.0.0.1:${probes}`];
  const server = startService(command, ['server', ...flags], { name: 'slipway server' });
  const isReady = (): boolean =>
    ['responses prepared', 'serving machines'].every((words) => server.log().includes(words));
  await server.waitUntil(isReady, READY_MS);
  return { port, pids: [server.pid], stop: () => server.stop() };
}
