import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import { buildDiskPlan, firstBootConfig } from '@slipway/fleet';
import { runSlipway, startSlipway, type RunningProcess } from '@slipway/testing/slipway-process';
import { ensureAuthority, pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { firstBoot, makeBootDirectory } from './first-boot/boot.ts';
import { compareDisk } from './first-boot/compare.ts';
import { richConfig } from './first-boot/rich-config.ts';

// Before there is a cluster: from manifests on disk to machines that have booted.
let directory: string;
let server: RunningProcess;
const at = (...path: string[]) => join(directory, ...path);
const readJson = async <T>(path: string): Promise<T> => JSON.parse(await readFile(at('boot', path), 'utf8')) as T;

beforeAll(async () => {
  directory = await makeBootDirectory();
  const port = await pickFreePort();
  const { certificate } = await ensureAuthority(at('api-ca.pem'), 'API server CA');
  const manifest = {
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: '50-rich', labels: { 'machineconfiguration.openshift.io/role': 'worker' } },
    spec: { config: richConfig },
  };
  const cluster = {
    server: 'https://api.example.com:6443',
    'certificate-authority-data': Buffer.from(certificate).toString('base64'),
  };
  await writeFile(at('rich.json'), JSON.stringify(manifest));
  await writeFile(
    at('node.kubeconfig'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'abcdef.0123456789abcdef' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  const inputs = ['-f', at('rich.json'), '--kubeconfig-for-nodes', at('node.kubeconfig')];
  const made = await runSlipway(
    'bootstrap',
    ...inputs,
    '--out',
    at('boot'),
    '--server-url',
    `https://127.0.0.1:${port}`,
  );
  if (made.code !== 0) throw new Error(made.err);
  const probes = `127.0.0.1:${await pickFreePort([port])}`;
  server = startSlipway('server', '--bootstrap', at('boot'), '--listen', `127.0.0.1:${port}`, '--probes', probes);
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true });
});

for (const { name, client, missing } of inject('ignitionClients')) {
  describe.skipIf(client === undefined)(`without a cluster, a machine with Ignition ${name}`, () => {
    it('boots from what slipway bootstrap has written, and its disk is as planned', async () => {
      if (client === undefined) throw new Error(missing);
      // The server may still be starting: the client asks again.
      const pointer = await readJson<object>('worker.ign');
      const booted = await firstBoot({ client, pointer, directory: at(name) });
      expect(booted.critical).toEqual([]);
      const pool = await readJson<MachineConfigPool>('pools/worker.json');
      const rendered = await readJson<MachineConfig>(`machine-configs/${pool.spec.configuration?.name}.json`);
      const node = {
        kubeconfig: await readFile(at('boot', 'kubeconfig'), 'utf8'),
        caBundle: await readFile(at('boot', 'ca.crt'), 'utf8'),
      };
      expect(await compareDisk(booted.root, await buildDiskPlan(await firstBootConfig(rendered, node)))).toEqual([]);
    });
  });
}
