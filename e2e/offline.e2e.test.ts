import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { machineConfigPools, machineConfigs, secrets } from '@slipway/api';
import { decodeDataUrl } from '@slipway/ignition';
import { runInProcess } from '@slipway/slipway/testing/in-process';
import { configWithFile, customPool, machineConfig } from '@slipway/testing/builders';
import {
  runSlipway,
  startProgram,
  startSlipway,
  type RunningProcess,
  waitForExit,
} from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { resolveBinaries } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { findPool, type Fleet, NAMESPACE, renderedWith, startFleet } from './render/fleet.ts';

const manifest = (kind: string, object: object) => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind,
  ...object,
});
const users = [
  manifest('MachineConfig', machineConfig('50-motd', 'worker', { config: configWithFile('/etc/motd', 'hello') })),
  manifest(
    'MachineConfig',
    machineConfig('60-infra', 'infra', { kernelArguments: ['nosmt'], extensions: ['usbguard'] }),
  ),
  manifest('MachineConfigPool', customPool('infra')),
];

let dir: string;
let fleet: Fleet;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'slipway-offline-'));
  await writeFile(join(dir, 'fleet.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items: users }));
  fleet = await startFleet();
  const made = await runSlipway(
    'bootstrap',
    `--filename=${join(dir, 'fleet.json')}`,
    `--out=${join(dir, 'boot')}`,
    '--server-url=https://127.0.0.1:22623',
    `--kubeconfig-for-nodes=${fleet.controlPlane.kubeconfig}`,
  );
  if (made.code !== 0) throw new Error(`slipway bootstrap failed: ${made.err}`);
}, 120_000);
afterAll(async () => {
  await fleet.stop();
  await rm(dir, { recursive: true });
});

interface Stub {
  ignition: {
    config: { merge: [{ source: string; httpHeaders: [{ name: string; value: string }] }] };
    security: { tls: { certificateAuthorities: [{ source: string }] } };
  };
}

const readStub = async (pool: string): Promise<Stub> =>
  JSON.parse(await readFile(join(dir, 'boot', `${pool}.ign`), 'utf8')) as Stub;

const nameFor = async (pool: string): Promise<string> => {
  const { spec } = JSON.parse(await readFile(join(dir, 'boot/pools', `${pool}.json`), 'utf8')) as {
    spec: { configuration: { name: string } };
  };
  return spec.configuration.name;
};

describe('the output of slipway bootstrap', () => {
  let server: RunningProcess;
  let port: number;
  beforeAll(async () => {
    server = startSlipway(
      'server',
      '--bootstrap',
      join(dir, 'boot'),
      '--listen',
      '127.0.0.1:0',
      '--probes',
      '127.0.0.1:0',
    );
    await server.saw(/serving machines/);
    port = Number(/"port":(\d+)[^\n]*serving machines/.exec(server.out() + server.err())?.[1]);
  });
  afterAll(async () => {
    await server.stop();
  });

  /** Sends the request of a machine with this stub, to another port. */
  async function fetchConfig(
    { ignition }: Stub,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: Buffer }> {
    const url = new URL(ignition.config.merge[0].source);
    url.port = String(port);
    const ca = decodeDataUrl(ignition.security.tls.certificateAuthorities[0].source);
    if (!ca.ok) throw new Error('the CA in the stub is no data URL');
    const accept = 'application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1';
    return new Promise((resolve, reject) => {
      request(url, { ca: Buffer.from(ca.bytes), headers: { accept, ...headers }, agent: false }, (answer) => {
        buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
      })
        .on('error', reject)
        .end();
    });
  }

  it.each(['worker', 'infra', 'master'])('boots a machine of %s with its stub only', async (pool) => {
    const stub = await readStub(pool);
    const { name, value } = stub.ignition.config.merge[0].httpHeaders[0];
    // Until its configs are ready, the server returns 503, and machines retry.
    const body = await until(async () => {
      const answer = await fetchConfig(stub, { [name]: value });
      expect(answer.status).toBe(200);
      return answer.body;
    });
    const config = JSON.parse(gunzipSync(body).toString()) as { storage: { files: { path: string }[] } };
    const paths = config.storage.files.map(({ path }) => path);
    expect(paths).toContain('/etc/kubernetes/kubeconfig');
    expect(paths.includes('/etc/motd')).toBe(pool !== 'master');
    expect(JSON.stringify(config)).toContain(await nameFor(pool));
    expect((await fetchConfig(stub, {})).status).toBe(401);
  });
});

describe('on the new cluster', () => {
  const kubectl = async (...args: string[]): Promise<string> => {
    const { kubectl: program } = await resolveBinaries(['kubectl']);
    const all = ['--kubeconfig', fleet.controlPlane.kubeconfig, ...args];
    return run(program, all);
  };

  it('the manifests of bootstrap can be applied as printed, and the controllers keep the same configs and CA', async () => {
    const asBreakGlass = ['--as', 'admin', '--as-group', 'system:masters', '--as-group', 'slipway:break-glass'];
    await kubectl('apply', '-f', join(dir, 'fleet.json'));
    await kubectl('apply', '-f', join(dir, 'boot/manifests'), ...asBreakGlass);
    const before = await fleet.admin.get(secrets, { namespace: NAMESPACE, name: 'machine-config-server-ca' });
    await fleet.controller();
    for (const pool of ['worker', 'infra', 'master']) {
      await until(async () => {
        const found = await findPool(fleet.admin, pool);
        expect(found?.status?.conditions).toContainEqual(
          expect.objectContaining({ type: 'RenderDegraded', status: 'False' }),
        );
        expect(found?.spec.configuration?.name).toBe(await nameFor(pool));
      });
    }
    const after = await fleet.admin.get(secrets, { namespace: NAMESPACE, name: 'machine-config-server-ca' });
    expect(after.data).toEqual(before.data);
  });

  it('slipway render computes from a dump the name and spec of the controller', async () => {
    await fleet.admin.create(
      machineConfigs,
      machineConfig('70-more', 'infra', { config: configWithFile('/etc/motd', 'infra'), kernelType: 'realtime' }),
    );
    const expected = await renderedWith(fleet.admin, 'infra', '70-more');
    const dump = join(dir, 'dump.yaml');
    await writeFile(dump, await kubectl('get', 'mc,mcp,cm', '-A', '-o', 'yaml'));
    const { code, out, err } = await runSlipway('render', '-f', dump, '--pool', 'infra');
    expect({ code, err }).toMatchObject({ code: 0 });
    const rendered = parse(out) as { metadata: { name: string }; spec: object };
    expect(rendered.metadata.name).toBe(expected.metadata.name);
    expect(rendered.spec).toEqual(expected.spec);
    expect(err).not.toContain('00-worker: not in the manifests');
  });

  it('slipway diff compares rendered configs by name, and exits 2 if they differ', async () => {
    const now = (await fleet.admin.get(machineConfigPools, { name: 'infra' })).spec.configuration?.name ?? '';
    const kubeconfig = ['--kubeconfig', fleet.controlPlane.kubeconfig];
    const { code, out } = await runSlipway('diff', await nameFor('infra'), now, ...kubeconfig);
    expect(code).toBe(2);
    expect(out).toContain('~ file /etc/motd\n');
    expect(out).toMatch(/default → realtime/);
    expect(await runInProcess('diff', now, now, ...kubeconfig)).toMatchObject({ code: 0, out: 'no difference\n' });
  });
});

it('validate keeps one file in memory at a time: 64 MB of manifests in a heap of 40 MB', async () => {
  const many = join(dir, 'many');
  await mkdir(many);
  const config = configWithFile('/etc/motd', 'a'.repeat(256 * 1024));
  for (let index = 0; index < 256; index += 1) {
    // A warning at the end of the run has the line of a label, too.
    const role = index < 128 ? 'nobody' : 'worker';
    const each = manifest('MachineConfig', machineConfig(`50-${index}`, role, { config }));
    await writeFile(join(many, `${index}.json`), JSON.stringify(each));
  }
  // A fixed heap instead of a measured peak, which depends on when the garbage collector runs.
  const flags = ['--max-old-space-size=40'];
  const result = await waitForExit(startProgram(inject('command'), ['validate', '-f', many], flags));
  expect(result).toMatchObject({ code: 0, err: '' });
  expect(result.out.split('\n')).toHaveLength(128 + 2);
  expect(result.out).toContain(`${join(many, '1.json')}:1: warning: MachineConfig 50-1, metadata.labels`);
  expect(result.out).toMatch(/^256 files, 256 objects: 0 errors, 128 warnings\n$/m);
});
