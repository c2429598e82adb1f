// `slipway explain` on a real cluster with real controllers: its result is what the controllers rendered from the stored
// objects, and it writes nothing.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type MachineConfig, machineConfigs } from '@slipway/api';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { configWithFile, machineConfig } from '@slipway/testing/builders';
import { type FakeServer, startFakeServer } from '@slipway/testing/fake-http-server';
import { runSlipway } from '@slipway/testing/slipway-process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, renderedWith, startFleet } from './render/fleet.ts';

/** Known to the audit log by its name. */
const reader = { user: 'explain-reader', groups: ['system:masters'], name: 'explain-reader' };

let fleet: Fleet;
let web: FakeServer;
let kubeconfig = '';
let rendered = '';

const remote = (path: string): MachineConfig =>
  machineConfig('60-remote', 'worker', {
    config: {
      ignition: { version: '3.5.0' },
      storage: { files: [{ path, mode: 0o644, contents: { source: `${web.url}/file` } }] },
    },
  });

beforeAll(async () => {
  fleet = await startFleet();
  web = await startFakeServer();
  web.serve('/file', 'as it was\n');
  kubeconfig = await fleet.controlPlane.kubeconfigFor(reader);
  await fleet.controller('--os-image', 'registry.example/os:1', '--allow-address', '127.0.0.0/8');
  for (const [name, text] of [
    ['40-motd', 'low\n'],
    ['50-motd', 'hello\n'],
  ] as const) {
    await fleet.admin.create(
      machineConfigs,
      machineConfig(name, 'worker', { config: configWithFile('/etc/motd', text) }),
    );
  }
  await fleet.admin.create(machineConfigs, remote('/etc/remote'));
  await renderedWith(fleet.admin, 'worker', '60-remote');
  rendered = (await renderedWith(fleet.admin, 'worker', '50-motd')).metadata.name;
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  await web.stop();
});

const asManifest = ({ metadata, spec }: MachineConfig): object => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata,
  spec,
});

const explain = (...args: string[]) => runInProcess('explain', ...args, '--kubeconfig', kubeconfig);

describe('slipway explain without -f', () => {
  it('shows one item of a pool with its origin and contents', async () => {
    const { code, out, err } = await runSlipway('explain', 'worker', '/etc/motd', '--kubeconfig', kubeconfig);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('set by 50-motd, overriding 40-motd') });
    expect(out).toContain('\n  hello\n');
    expect(err).toContain(`${rendered}: `);
    expect(err).not.toContain('warning');
  });

  it('explains the current config of the pool, with its OS image', async () => {
    const { code, out } = await explain('worker', '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      pool: 'worker',
      rendered,
      items: expect.arrayContaining([
        expect.objectContaining({ noun: 'OS image', name: 'registry.example/os:1', setBy: '(platform)' }),
        expect.objectContaining({ noun: 'file', name: '/etc/motd', setBy: '50-motd', overrode: ['40-motd'] }),
      ]),
    });
  });

  it('prints the same as for the same objects in a file', async () => {
    const given = await Array.fromAsync(fleet.admin.list(machineConfigs));
    const path = join(fleet.controlPlane.dataDir, 'dump.json');
    await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: given.map(asManifest) }));
    const flags = ['--os-image', 'registry.example/os:1', '--allow-address', '127.0.0.0/8'];
    const offline = await runInProcess('explain', 'worker', '-f', path, ...flags);
    await rm(path);
    expect({ code: offline.code, err: offline.err }).toMatchObject({ code: 0 });
    expect((await explain('worker')).out).toBe(offline.out);
  });

  it('uses the remote content that the cluster has stored', async () => {
    web.serve('/file', 'as it is now\n');
    const before = web.requests.length;
    const { code, out } = await explain('worker', '/etc/remote');
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('as it was') });
    expect(web.requests.length).toBe(before);
  });

  it.each([
    [['infar'], 'SLW_CLI_NO_POOL'],
    [['worker', '/etc/mot'], 'SLW_CLI_NOTHING_SUCH'],
    [[], 'SLW_CLI_USAGE'],
  ])('%j is refused with %s', async (args, code) => {
    const said = await explain(...args);
    expect({ code: said.code, out: said.out }).toEqual({ code: 1, out: '' });
    expect(said.err).toContain(code);
  });

  it('has written nothing', async () => {
    const requests = await readSettledAuditLog(fleet.controlPlane.auditLog, reader.user);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))).toEqual([]);
  });
});
