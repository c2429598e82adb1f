import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { DEFAULT_NAMESPACE, machineConfigPools, machineConfigs, secrets } from '@slipway/api';
import { serverSecrets } from '@slipway/fleet';
import { customPool, dataUrl } from '@slipway/testing/builders';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { until } from '@slipway/testing/wait';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { firstBoot, type Boot } from './first-boot/boot.ts';
import { compareDisk } from './first-boot/compare.ts';
import { startFleet, type Fleet, type Stub } from './first-boot/fleet.ts';
import { richConfig } from './first-boot/rich-config.ts';

// The whole way of a birth: MachineConfigs, render, stub, server, the real client, the disk.
const clients = inject('ignitionClients').filter(({ client }) => client !== undefined);
const remoteFile = 'from somewhere else\n'.repeat(200);

let fleet: Fleet;
let web: FakeServer;
/** The stub of the pool worker as it was at the beginning. */
let stub: Stub;

beforeAll(async () => {
  fleet = await startFleet();
  web = await startFakeServer();
  const base = {
    ignition: { version: '3.4.0' },
    storage: {
      files: [
        { path: '/etc/merged', mode: 0o640, contents: { source: dataUrl('merged from remote\n') } },
        { path: '/etc/overridden', contents: { source: dataUrl('remote\n') } },
      ],
    },
    systemd: { units: [{ name: 'merged.service', enabled: true, contents: '[Service]\nExecStart=/bin/true\n' }] },
  };
  web.serve('/base.ign', JSON.stringify(base));
  web.serve('/file.gz', gzipSync(remoteFile));
  await fleet.addMachineConfig('50-rich', 'worker', richConfig);
  await fleet.addMachineConfig('60-remote', 'worker', remoteConfig(web.url));
  await fleet.rendered('worker', ['00-worker', '50-rich', '60-remote']);
  // From here on nobody can ask it for anything, restarted or not.
  await web.stop();
  stub = await fleet.stubOf('worker');
}, 120_000);
afterAll(() => fleet.stop());

const remoteConfig = (url: string): Record<string, unknown> => ({
  ignition: { version: '3.5.0', config: { merge: [{ source: `${url}/base.ign` }] } },
  storage: {
    files: [
      { path: '/etc/overridden', contents: { source: dataUrl('local\n') } },
      {
        path: '/etc/remote',
        mode: 0o600,
        contents: {
          source: `${url}/file.gz`,
          compression: 'gzip',
          verification: { hash: `sha256-${createHash('sha256').update(remoteFile).digest('hex')}` },
        },
      },
    ],
  },
});

async function boot(name: string, pointer: object, timeoutMs?: number): Promise<Boot> {
  const { client } = clients.find((each) => each.name === name) ?? {};
  if (client === undefined) throw new Error(`no Ignition ${name}`);
  return firstBoot({
    client,
    pointer,
    directory: join(fleet.directory, name),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** The same stub with another address or token. */
function change(original: Stub, { pool, token }: { pool?: string; token?: string }): Stub {
  const copy = structuredClone(original);
  for (const source of copy.ignition.config.merge) {
    if (pool !== undefined) source.source = source.source.replace('/config/worker', `/config/${pool}`);
    if (token !== undefined) source.httpHeaders = [{ name: 'Authorization', value: `Bearer ${token}` }];
  }
  return copy;
}

describe.skipIf(clients.length === 0).each(clients)('a machine with Ignition $name', ({ name }) => {
  it('boots from our server with the stub of its pool, and every file, mode, owner, unit, user and key is as planned', async () => {
    const booted = await boot(name, await fleet.stubOf('worker'));
    console.log(`Ignition ${name}: booted from our server in ${booted.ms.toFixed(0)} ms`);
    expect(booted.critical).toEqual([]);
    const plan = await fleet.planOf('worker');
    expect(await compareDisk(booted.root, plan)).toEqual([]);
    // Otherwise equal would mean little.
    const paths = plan.entries.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        '/etc/merged',
        '/etc/remote',
        '/etc/kubernetes/kubeconfig',
        '/etc/machine-config-daemon/node-annotations.json',
        '/etc/ignition-machine-config-encapsulated.json',
        '/etc/systemd/system/machine-config-daemon-firstboot.service',
      ]),
    );
    const remote = plan.entries.find(({ path }) => path === '/etc/remote');
    expect(remote?.kind === 'file' && Buffer.from(remote.bytes).toString()).toBe(remoteFile);
  });

  it('gives up at once when its pool does not exist, which only a machine with a token of the pool could learn', async () => {
    const booted = await boot(name, change(stub, { pool: 'nope' }));
    expect(booted).toMatchObject({ ok: false, failedIn: 'fetch', timedOut: false });
    expect(booted.logs.fetch).toContain('GET result: Unauthorized');
    expect(booted.logs.fetch).not.toContain('attempt #2');
    expect(booted.ms).toBeLessThan(10_000);
  });

  it('waits while its pool is not rendered yet, and boots as soon as it is', async () => {
    const pool = `waits-${name.replace('.', '-')}`;
    // A MachineConfig that cannot be read: nothing is rendered until it is put right.
    await fleet.addMachineConfig(`90-${pool}`, pool, { ignition: { version: '9.9.9' } });
    await fleet.client.create(machineConfigPools, customPool(pool));
    const booting = boot(name, await fleet.stubOf(pool));
    await fleet.server.saw(new RegExp(`${pool}.*503|503.*${pool}`));
    const body = { spec: { config: { ignition: { version: '3.5.0' } } } };
    await fleet.client.patch(machineConfigs, { name: `90-${pool}` }, { type: 'merge', body }, {});
    const booted = await booting;
    expect(booted.critical).toEqual([]);
    expect(booted.logs.fetch).toContain('GET result: Service Unavailable');
    expect(await compareDisk(booted.root, await fleet.planOf(pool))).toEqual([]);
  });
});

it('remote content is fetched once, and a controller that starts while its web server is gone renders the same', async () => {
  const before = await fleet.rendered('worker', ['60-remote']);
  await fleet.restartControllers();
  // A new MachineConfig makes a new render, of which the remote one is a part.
  await fleet.addMachineConfig('70-later', 'worker', {
    ignition: { version: '3.5.0' },
    storage: { files: [{ path: '/etc/later' }] },
  });
  const after = await fleet.rendered('worker', ['60-remote', '70-later']);
  expect(after.metadata.name).not.toBe(before.metadata.name);
  expect(web.requests.map(({ path }) => path).sort()).toEqual(['/base.ign', '/file.gz']);
});

describe.skipIf(clients.length === 0)('what changes while stubs are on their way', () => {
  const [{ name } = { name: '' }] = clients;

  it('a stub made before the CA was replaced still boots a machine, though it knows the old CA alone', async () => {
    const before = await readIssuer(fleet.serverUrl);
    // By these rules the CA of now is due for its successor.
    await fleet.restartControllers(
      '--ca-validity',
      '40s',
      '--ca-refresh',
      '10s',
      '--serving-validity',
      '40s',
      '--serving-refresh',
      '10s',
    );
    await until(async () => expect(await readIssuer(fleet.serverUrl)).not.toBe(before));
    const booted = await boot(name, stub);
    expect(booted.critical).toEqual([]);
    const renewed = await fleet.stubOf('worker');
    expect(renewed.ignition.security).not.toEqual(stub.ignition.security);
    expect((await boot(name, renewed)).critical).toEqual([]);
  });

  it.each(clients)('a token that has expired ends the boot at once (Ignition $name)', async (client) => {
    await fleet.stopControllers();
    const [source] = stub.ignition.config.merge;
    const token = source?.httpHeaders?.[0]?.value.replace('Bearer ', '');
    const expired = [{ token, created: '2020-01-01T00:00:00Z', expires: '2020-01-02T00:00:00Z' }];
    const worker = Buffer.from(JSON.stringify(expired)).toString('base64');
    await fleet.client.patch(
      secrets,
      { namespace: DEFAULT_NAMESPACE, name: serverSecrets.tokens },
      { type: 'merge', body: { data: { worker } } },
      {},
    );
    await until(async () => {
      const booted = await boot(client.name, stub);
      expect(booted).toMatchObject({ ok: false, failedIn: 'fetch', timedOut: false });
      expect(booted.logs.fetch).toContain('GET result: Unauthorized');
      expect(booted.logs.fetch).not.toContain('attempt #2');
      expect(booted.ms).toBeLessThan(10_000);
    });
    expect(fleet.server.out() + fleet.server.err()).not.toContain(token);
  });
});

/** Who signed the certificate that the server shows: its fingerprint. */
async function readIssuer(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  // Only looked at: nothing is sent.
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return certificate?.issuer ?? '';
}
