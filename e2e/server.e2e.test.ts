import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import {
  infrastructures,
  machineConfigPools,
  machineConfigs,
  namespaces,
  nodeAnnotations,
  nodes,
  rolloutStateAnnotation,
  secrets,
  targetConfigAnnotation,
} from '@slipway/api';
import { canonicalJson, encodeState, renderedName, serverSecrets } from '@slipway/fleet';
import { issueServing, makeAuthority, servingData } from '@slipway/base/certificates';
import type { Client } from '@slipway/kube';
import { breakGlass, operator, startTestCluster, type TestCluster } from '@slipway/testing/control-plane';
import { type RunningProcess, runSlipway, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { type ControlPlane, pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NAMESPACE = 'openshift-machine-config-operator';
const DAY = 24 * 3_600_000;
const specOf = (digit: string) => ({ config: { ignition: { version: '3.5.0' } }, kernelArguments: [`digit=${digit}`] });
const rendered = (digit: string, pool = 'worker') => renderedName(pool, canonicalJson(specOf(digit)));
const tokenText = (letter: string) => letter.repeat(43);
const started = {
  from: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: null,
  nodes: 2,
  fromOsMajor: null,
  healthySince: null,
  resumedAt: null,
  halted: null,
  hold: null,
  answer: null,
};

let cluster: TestCluster;
let controlPlane: ControlPlane;
let client: Client;
let server: RunningProcess;
let port: number;
let probes: number;

beforeAll(async () => {
  cluster = await startTestCluster();
  ({ controlPlane, operator: client } = cluster);
  // Rendered configs are written by our controllers alone, and in this test by itself.
  const kubeconfig = await controlPlane.kubeconfigFor(operator);
  if ((await client.find(namespaces, { name: NAMESPACE })) === undefined) {
    await client.create(namespaces, { metadata: { name: NAMESPACE } });
  }
  port = await pickFreePort();
  probes = await pickFreePort([port]);
  const flags = ['--listen', `127.0.0.1:${port}`, '--probes', `127.0.0.1:${probes}`];
  server = startSlipway('server', '--kubeconfig', kubeconfig, ...flags);
});
afterAll(async () => {
  await server.stop();
  await cluster.stop();
});

async function putSecret(name: string, data: Record<string, string>): Promise<void> {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  const object = {
    metadata: { name, namespace: NAMESPACE },
    data: Object.fromEntries(encoded) as Record<string, string>,
  };
  await client.apply(secrets, object, {}, { fieldManager: 'test', force: true });
}

async function putCertificate(host: string): Promise<void> {
  const now = new Date();
  await putSecret(
    serverSecrets.serving,
    servingData(await issueServing(await makeAuthority(now, DAY), [host], now, DAY)),
  );
}

const putTokens = (...letters: string[]): Promise<void> =>
  putSecret(serverSecrets.tokens, {
    worker: JSON.stringify(
      letters.map((letter) => ({ token: tokenText(letter), created: new Date(), expires: new Date(Date.now() + DAY) })),
    ),
  });

const putKubeconfig = (user: string): Promise<void> =>
  putSecret(serverSecrets.kubeconfig, { kubeconfig: `kind: Config # ${user}\n`, 'ca.crt': 'CA\n' });

async function putRendered(digit: string): Promise<void> {
  await client.create(machineConfigs, { metadata: { name: rendered(digit) }, spec: specOf(digit) });
  await patchPool({ spec: { configuration: { name: rendered(digit) } } });
}

const patchPool = (body: object, options: { subresource?: 'status' } = {}) =>
  client.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {}, options);

interface Reply {
  status: number | undefined;
  text: string;
  names: string | undefined;
}

async function fetchConfig(token = 'a', path = '/config/worker', at = port): Promise<Reply> {
  const headers = {
    accept: 'application/vnd.coreos.ignition+json;version=3.5.0, */*;q=0.1',
    authorization: `Bearer ${tokenText(token)}`,
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get({ host: '127.0.0.1', port: at, path, headers, rejectUnauthorized: false, agent: false }, resolve).on(
    'error',
    reject,
  );
  const response = await promise;
  const names = (response.socket as TLSSocket).getPeerCertificate().subjectaltname;
  return { status: response.statusCode, text: decodeURIComponent((await buffer(response)).toString()), names };
}

const readiness = async (): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`http://127.0.0.1:${probes}/readyz`);
  return { status: answer.status, text: await answer.text() };
};

describe('the server on a cluster', () => {
  it('waits for its Secrets, and says which', async () => {
    await until(async () => {
      const { status, text } = await readiness();
      expect(status).toBe(503);
      for (const name of [serverSecrets.serving, serverSecrets.tokens, serverSecrets.kubeconfig]) {
        expect(text).toContain(`Secret ${name} does not exist`);
      }
    });
    await expect(fetchConfig()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('serves as soon as it has them', async () => {
    await putCertificate('first.example.com');
    await putTokens('a');
    await putKubeconfig('first');
    await until(async () => expect(await readiness()).toMatchObject({ status: 200 }));
    await until(async () => expect(await fetchConfig()).toMatchObject({ status: 404 }));
  });

  it('answers for a pool once it is rendered', async () => {
    await client.create(machineConfigPools, { metadata: { name: 'worker' }, spec: {} });
    await until(async () => expect(await fetchConfig()).toMatchObject({ status: 503 }));
    await putRendered('1');
    await until(async () => {
      const { status, text } = await fetchConfig();
      expect(status).toBe(200);
      expect(text).toContain(`"machineconfiguration.openshift.io/currentConfig":"${rendered('1')}"`);
      expect(text).toContain('kind: Config # first');
    });
  });

  /** What is seen after it is of a later version than all that was written before. */
  const untilFollowed = async (mark: string): Promise<string> => {
    await putKubeconfig(mark);
    return until(async () => {
      const { text } = await fetchConfig();
      expect(text).toContain(`kind: Config # ${mark}`);
      return text;
    });
  };

  it('gives new machines the new config when the rollout has passed its first wave and a second machine has it, whatever one node reports', async () => {
    await patchPool(
      { status: { configuration: { name: rendered('1') }, updatedMachineCount: 1 } },
      { subresource: 'status' },
    );
    await putRendered('2');
    const annotations = { [nodeAnnotations.currentConfig]: rendered('2'), [nodeAnnotations.state]: 'Done' };
    await client.create(nodes, { metadata: { name: 'liar', annotations } });
    expect(await untilFollowed('second')).toContain(rendered('1'));
    const putWave = (wave: number) =>
      patchPool({
        metadata: {
          annotations: { [rolloutStateAnnotation]: encodeState({ ...started, target: rendered('2'), wave }) },
        },
      });
    await putWave(1);
    expect(await untilFollowed('third')).toContain(rendered('1'));
    await putWave(2);
    expect(await untilFollowed('fourth')).toContain(rendered('1'));
    await patchPool({ status: { updatedMachineCount: 2 } }, { subresource: 'status' });
    await until(async () => expect((await fetchConfig()).text).toContain(rendered('2')));
  });

  it('serves neither another pool’s config nor a bare piece that the pool is aimed at with break-glass', async () => {
    const onCall = await cluster.clientFor(breakGlass);
    await client.create(machineConfigs, { metadata: { name: rendered('3', 'master') }, spec: specOf('3') });
    await client.create(machineConfigs, { metadata: { name: '99-worker-motd' }, spec: specOf('4') });
    for (const config of [rendered('3', 'master'), '99-worker-motd', null]) {
      const body = { metadata: { annotations: { [targetConfigAnnotation]: config } } };
      await onCall.patch(machineConfigPools, { name: 'worker' }, { type: 'merge', body }, {});
      expect(await untilFollowed(`aimed at ${config}`)).toContain(rendered(config === null ? '2' : '1'));
    }
  });

  it('serves no rendered config that was changed', async () => {
    await client.create(machineConfigs, { metadata: { name: rendered('5') }, spec: specOf('changed') });
    await patchPool({
      metadata: { annotations: { [rolloutStateAnnotation]: null } },
      spec: { configuration: { name: rendered('5') } },
    });
    await patchPool({ status: { configuration: { name: rendered('5') } } }, { subresource: 'status' });
    await until(() =>
      expect(server.err()).toContain(`MachineConfig ${rendered('5')} is not what was rendered for pool worker`),
    );
    // The response is replaced after the refusal is logged.
    await until(async () => expect((await fetchConfig()).text).toContain(rendered('1')));
    await patchPool({ spec: { configuration: { name: rendered('2') } } });
    await patchPool({ status: { configuration: { name: rendered('2') } } }, { subresource: 'status' });
  });

  it('follows the rotation of tokens', async () => {
    await putTokens('b', 'a');
    await until(async () => expect(await fetchConfig('b')).toMatchObject({ status: 200 }));
    expect(await fetchConfig('a')).toMatchObject({ status: 200 });
    await putTokens('c', 'b');
    await until(async () => expect(await fetchConfig('a')).toMatchObject({ status: 401 }));
    expect(await fetchConfig('b')).toMatchObject({ status: 200 });
  });

  it('follows the rotation of its certificate', async () => {
    expect((await fetchConfig('b')).names).toContain('first.example.com');
    await putCertificate('second.example.com');
    await until(async () => expect((await fetchConfig('b')).names).toContain('second.example.com'));
  });

  it('keeps what it has when a Secret is damaged', async () => {
    await putSecret(serverSecrets.serving, { 'tls.crt': 'damaged', 'tls.key': 'damaged' });
    await until(async () => expect(server.err()).toContain('SLW_SERVER_CERTIFICATE'));
    expect((await fetchConfig('b')).names).toContain('second.example.com');
    await putCertificate('third.example.com');
    await until(async () => expect((await fetchConfig('b')).names).toContain('third.example.com'));
  });

  it('never logs a token', () => {
    expect(server.err()).toContain('sent a machine its config');
    expect(server.err()).not.toMatch(/a{43}|b{43}|c{43}/);
  });
});

describe('the server command', () => {
  it('ends with one line when it cannot listen', async () => {
    const flags = ['--listen', `127.0.0.1:${port}`, '--probes', `127.0.0.1:${await pickFreePort([port, probes])}`];
    const { code, err } = await runSlipway('server', '--kubeconfig', controlPlane.kubeconfig, ...flags);
    expect(code).toBe(1);
    expect(err).toMatch(
      /slipway: cannot listen on 127\.0\.0\.1 port \d+: another process listens there \[SLW_SERVER_LISTEN\]/,
    );
  });

  it('serves machines without a token only if a flag allows it, on OpenShift too', async () => {
    await client.create(infrastructures, { metadata: { name: 'cluster' }, spec: {} });
    const body = { status: { platformStatus: { type: 'None' as const } } };
    await client.patch(infrastructures, { name: 'cluster' }, { type: 'merge', body }, {}, { subresource: 'status' });
    for (const [flag, expected] of [
      [[], 401],
      [['--allow-anonymous'], 200],
    ] as const) {
      const own = await pickFreePort([port, probes]);
      const ownProbes = await pickFreePort([port, probes, own]);
      const flags = ['--listen', `127.0.0.1:${own}`, '--probes', `127.0.0.1:${ownProbes}`];
      const started = startSlipway('server', '--kubeconfig', controlPlane.kubeconfig, ...flags, ...flag);
      await started.saw(/responses prepared/);
      await until(async () =>
        expect(await fetchConfig('z', '/config/worker', own)).toMatchObject({ status: expected }),
      );
      started.child.kill('SIGTERM');
      expect(await started.exit).toBe(0);
    }
  });

  it('says which file of a bootstrap directory is missing', async () => {
    const { code, err } = await runSlipway('server', '--bootstrap', '/nonexistent');
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: \/nonexistent\/pools does not exist.*\[SLW_SERVER_INPUT\]$/m);
  });
});
