import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { infrastructures, machineConfigPools, secrets } from '@slipway/api';
import { type ProvisioningToken, readTokens, serverSecrets } from '@slipway/fleet';
import { decodeDataUrl, parse, validate } from '@slipway/ignition';
import { createTransport, loadKubeconfig, type Transport } from '@slipway/kube';
import { until } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cluster, type ProvisioningScene, startCluster } from './provisioning/cluster.ts';

let cluster: Cluster;
let scene: ProvisioningScene;
beforeAll(async () => {
  cluster = await startCluster();
}, 120_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  scene = await cluster.scene();
});
afterEach(() => scene.end());

interface Stub {
  source: string;
  compression: string | undefined;
  token: string | undefined;
  caBundle: string;
}

/** The parts of a stub that the tests look at; Ignition has said before that it is valid. */
interface StubFile {
  ignition: {
    config: { merge: [{ source: string; compression?: string; httpHeaders?: [{ value: string }] }] };
    security: { tls: { certificateAuthorities: [{ source: string }] } };
  };
}

/** What a machine reads out of a stub. */
function readStub(text: string): Stub {
  const { config, report } = parse(text);
  if (config === null) throw new Error(`no stub: ${JSON.stringify(report)}`);
  expect([...report, ...validate(config)]).toEqual([]);
  const { ignition } = JSON.parse(text) as StubFile;
  const [{ source, compression, httpHeaders }] = ignition.config.merge;
  const [authority] = ignition.security.tls.certificateAuthorities;
  const token = httpHeaders?.[0].value.replace(/^Bearer /, '');
  return { source, compression, token, caBundle: decodeContents(authority.source) };
}

function decodeContents(dataUrl: string): string {
  const decoded = decodeDataUrl(dataUrl);
  return decoded.ok ? new TextDecoder().decode(decoded.bytes) : '';
}

const stubName = (): string => `${scene.pool}-user-data-managed`;
const machineStub = async (): Promise<Stub> => readStub(await scene.text(scene.machineApi, stubName(), 'userData'));
const bundle = (): Promise<string> => scene.text(scene.ours, serverSecrets.authority, 'ca-bundle.crt');

async function tokens(): Promise<ProvisioningToken[]> {
  const found = readTokens(await scene.text(scene.ours, serverSecrets.tokens, scene.pool));
  if (found === undefined) throw new Error('the tokens are damaged');
  return found;
}

/** The stub of now, with the CA and the token of now. */
const untilCurrent = (): Promise<Stub> =>
  until(async () => {
    const [stub, [newest]] = [await machineStub(), await tokens()];
    expect(stub).toMatchObject({ caBundle: await bundle(), token: newest?.token });
    return stub;
  });

async function edit(namespace: string, name: string, data: Record<string, string | null>): Promise<void> {
  const encoded = Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, text === null ? null : btoa(text)]),
  );
  await cluster.client.patch(secrets, { namespace, name }, { type: 'merge', body: { data: encoded } }, {});
}

const create = (namespace: string, name: string, data: Record<string, string>) =>
  cluster.client.create(secrets, { metadata: { namespace, name }, stringData: data });

const untilEvent = (namespace: string, name: string, reason: string) =>
  until(async () => {
    const found = (await scene.events(namespace, name)).find((event) => event.reason === reason);
    if (found === undefined) throw new Error(`no event ${reason} about ${name}`);
    return found;
  });

describe('the stub of a pool', () => {
  it('stands in the machine namespaces, in the form that each of them reads', async () => {
    await scene.makeNamespace(scene.machineApi);
    await scene.makeNamespace(scene.clusterApi);
    const started = scene.run();
    const stub = await untilCurrent();
    expect(stub.source).toBe(`https://boot.example.com:22623/config/${scene.pool}?compression=gzip`);
    expect(stub.compression).toBe('gzip');
    expect(await scene.text(scene.machineApi, stubName(), 'disableTemplating')).toBe('true');
    const value = await until(() => scene.text(scene.clusterApi, stubName(), 'value'));
    expect(readStub(value)).toEqual(stub);
    expect(await scene.text(scene.clusterApi, stubName(), 'format')).toBe('ignition');
    expect(started.log()).not.toContain(stub.token);
    expect(started.log()).not.toContain('PRIVATE KEY');
  });

  it('is made when its namespace appears', async () => {
    scene.run();
    await until(tokens);
    await until(bundle);
    await scene.makeNamespace(scene.machineApi);
    expect(await untilCurrent()).toMatchObject({ compression: 'gzip' });
  });

  it('follows the CA and the tokens; its token is always good for a while, and never are there more than two', async () => {
    await scene.makeNamespace(scene.machineApi);
    const lifetime = 10_000;
    scene.run({ tokenLifetime: lifetime, caValidity: 24_000, caRefresh: 6000 });
    const first = await untilCurrent();
    const seen = new Set<string>();
    const faults = new Set<string>();
    const deadline = Date.now() + 30_000;
    let bundles = 0;
    while ((seen.size < 3 || bundles < 2) && Date.now() < deadline) {
      const stub = await machineStub();
      const valid = (await tokens()).filter(({ expires }) => Date.parse(expires) > Date.now());
      const its = valid.find(({ token }) => token === stub.token);
      // The way from the half life, through both Secrets, to us: the machine may be busy.
      if (its === undefined || Date.parse(its.expires) - Date.now() < lifetime / 2 - 4000)
        faults.add('a token too old');
      if (valid.length > 2) faults.add(`${valid.length} valid tokens`);
      if (stub.token !== undefined) seen.add(stub.token);
      bundles = stub.caBundle === first.caBundle ? 1 : 2;
      await delay(20);
    }
    expect([...faults]).toEqual([]);
    expect({ tokens: seen.size, bundles }).toEqual({ tokens: 3, bundles: 2 });
    expect((await machineStub()).caBundle).toContain(first.caBundle);
  });

  it('is put back where somebody changed it, and made again where somebody deleted it', async () => {
    await scene.makeNamespace(scene.machineApi);
    scene.run();
    const stub = await untilCurrent();
    await edit(scene.machineApi, stubName(), { userData: '#!/bin/sh', extra: 'x' });
    await until(async () => expect(await machineStub()).toEqual(stub));
    expect(Object.keys((await scene.find(scene.machineApi, stubName()))?.data ?? {}).sort()).toEqual([
      'disableTemplating',
      'userData',
    ]);
    expect(await untilEvent(scene.machineApi, stubName(), 'StubPutBack')).toMatchObject({ type: 'Warning' });
    await cluster.client.delete(secrets, { namespace: scene.machineApi, name: stubName() }, {});
    await until(async () => expect(await machineStub()).toEqual(stub));
  });

  it('takes the place of another operator’s stub of that pool, and what that was is kept', async () => {
    await scene.makeNamespace(scene.machineApi);
    const source = `https://api-int.example.com:22623/config/${scene.pool}`;
    const userData = JSON.stringify({ ignition: { version: '3.2.0', config: { merge: [{ source }] } } });
    await create(scene.machineApi, stubName(), { userData, disableTemplating: 'true' });
    scene.run();
    await untilCurrent();
    expect(await scene.text(scene.machineApi, `${stubName()}-before-slipway`, 'userData')).toBe(userData);
    await untilEvent(scene.machineApi, stubName(), 'StubTakenOver');
  });

  it('leaves anything else of that name alone, and says so', async () => {
    await scene.makeNamespace(scene.machineApi);
    await create(scene.machineApi, stubName(), { userData: '#!/bin/sh' });
    scene.run();
    const event = await untilEvent(scene.machineApi, stubName(), 'StubNotOurs');
    expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining('Slipway does not change it') });
    expect(await scene.text(scene.machineApi, stubName(), 'userData')).toBe('#!/bin/sh');
  });

  it('goes with its pool, as its tokens do', async () => {
    await scene.makeNamespace(scene.machineApi);
    scene.run();
    await untilCurrent();
    await cluster.client.delete(machineConfigPools, { name: scene.pool }, {});
    await until(async () => {
      expect(await scene.find(scene.machineApi, stubName())).toBeUndefined();
      expect((await scene.find(scene.ours, serverSecrets.tokens))?.data?.[scene.pool]).toBeUndefined();
    });
  });

  it('is not made where nobody has said where the server is, and that is said once', async () => {
    await scene.makeNamespace(scene.machineApi);
    const started = scene.run({ serverUrl: undefined });
    const event = await untilEvent('default', scene.pool, 'NoServerAddress');
    expect(event).toMatchObject({ type: 'Warning', message: expect.stringContaining('--server-url') });
    await until(bundle);
    const [before] = await until(tokens);
    await cluster.client.delete(secrets, { namespace: scene.ours, name: serverSecrets.tokens }, {});
    await until(async () => expect((await tokens())[0]?.token).not.toBe(before?.token));
    expect(started.log().split('new machines get no stub')).toHaveLength(2);
    expect(await scene.names(scene.machineApi)).toEqual([]);
  });
});

describe('tokens that somebody has damaged', () => {
  it('are made anew, with a warning that shows none of them', async () => {
    const started = scene.run();
    const [before] = await until(tokens);
    await edit(scene.ours, serverSecrets.tokens, { [scene.pool]: `${before?.token} oops` });
    const event = await untilEvent(scene.ours, serverSecrets.tokens, 'TokensDamaged');
    const [after] = await until(tokens);
    expect(after?.token).not.toBe(before?.token);
    for (const text of [event.message, started.log()]) {
      expect(text).not.toContain(before?.token);
      expect(text).not.toContain(after?.token);
    }
  });
});

describe('the kubeconfig of a joining machine', () => {
  const buildTokenSelector = (): string => `slipway.dev/bootstrap-token-of=${scene.ours}`;
  const bootstrapTokens = (): Promise<string[]> => scene.names('kube-system', buildTokenSelector());
  const kubeconfig = (): Promise<string> => scene.text(scene.ours, serverSecrets.kubeconfig, 'kubeconfig');
  const idIn = (text: string): string => /token: (\w{6})\./.exec(text)?.[1] ?? '';

  /** Who the API server takes the holder of this kubeconfig for. */
  async function whoIs(text: string): Promise<{ username: string; groups: string[] }> {
    const directory = await mkdtemp(join(tmpdir(), 'slipway-kubeconfig-'));
    let transport: Transport | undefined;
    try {
      await writeFile(join(directory, 'kubeconfig'), text, { mode: 0o600 });
      transport = createTransport(await loadKubeconfig([join(directory, 'kubeconfig')]), { retryForMs: 0 });
      const answer = await transport.json({
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        retry: 'never',
        what: 'ask who I am',
      });
      return (answer as { status: { userInfo: { username: string; groups: string[] } } }).status.userInfo;
    } finally {
      await transport?.close();
      await rm(directory, { recursive: true });
    }
  }

  it('really lets a machine in, as one of those who may ask for a certificate', async () => {
    const started = scene.run();
    const text = await until(kubeconfig);
    const who = await until(() => whoIs(text));
    expect(who.username).toBe(`system:bootstrap:${idIn(text)}`);
    expect(who.groups).toContain('system:bootstrappers:slipway');
    expect(await scene.text(scene.ours, serverSecrets.kubeconfig, 'ca.crt')).toContain('BEGIN CERTIFICATE');
    expect(started.log()).not.toContain(/token: (\S+)/.exec(text)?.[1]);
  });

  it('rotates with an overlap, and tokens that have expired are gone', async () => {
    // Long enough that a busy machine comes to look at the first before it has expired.
    scene.run({ bootstrapTokenLifetime: 8000 });
    const first = await until(kubeconfig);
    const second = await until(async () => {
      const text = await kubeconfig();
      expect(text).not.toBe(first);
      return text;
    });
    for (const text of [first, second]) {
      expect((await until(() => whoIs(text))).username).toBe(`system:bootstrap:${idIn(text)}`);
    }
    await until(async () => {
      const left = await bootstrapTokens();
      expect(left).not.toContain(`bootstrap-token-${idIn(first)}`);
      expect(left).toContain(`bootstrap-token-${idIn(await kubeconfig())}`);
      expect(left.length).toBeLessThanOrEqual(2);
    });
  });

  it('gets a new token where somebody deleted or damaged the one in it', async () => {
    scene.run();
    const first = await until(kubeconfig);
    await cluster.client.delete(secrets, { namespace: 'kube-system', name: `bootstrap-token-${idIn(first)}` }, {});
    const second = await until(async () => {
      const text = await kubeconfig();
      expect(text).not.toBe(first);
      return text;
    });
    await edit('kube-system', `bootstrap-token-${idIn(second)}`, { expiration: 'never' });
    await until(async () => {
      const id = idIn(await kubeconfig());
      expect(id).not.toBe(idIn(second));
      expect(await bootstrapTokens()).toEqual([`bootstrap-token-${id}`]);
    });
  });

  it('is left as it is where a person made it, and no tokens are made for it', async () => {
    await create(scene.ours, serverSecrets.kubeconfig, { kubeconfig: 'mine', 'ca.crt': 'mine' });
    scene.run();
    await until(tokens);
    await until(() => scene.text(scene.ours, serverSecrets.serving, 'tls.crt'));
    expect(await kubeconfig()).toBe('mine');
    expect(await bootstrapTokens()).toEqual([]);
  });
});

describe('on OpenShift', () => {
  afterEach(() => cluster.client.delete(infrastructures, { name: 'cluster' }, {}));

  it('stubs lead to the platform’s address and have a token, and machines join the platform’s way', async () => {
    await cluster.client.create(infrastructures, { metadata: { name: 'cluster' }, spec: {} });
    const status = {
      apiServerInternalURI: 'https://api-int.fleet.example.com:6443',
      platformStatus: { type: 'BareMetal', baremetal: { apiServerInternalIPs: ['192.0.2.5'] } },
    };
    const patch = { type: 'merge', body: { status } } as const;
    await cluster.client.patch(infrastructures, { name: 'cluster' }, patch, {}, { subresource: 'status' });
    await scene.makeNamespace(scene.machineApi);
    scene.run({ serverUrl: undefined });
    const stub = await until(machineStub);
    expect(stub.source).toBe(`https://192.0.2.5:22623/config/${scene.pool}?compression=gzip`);
    expect(stub.token).toBe((await tokens())[0]?.token);
    await until(() => scene.text(scene.ours, serverSecrets.serving, 'tls.crt'));
    expect(await scene.names(scene.ours)).toEqual([
      serverSecrets.authority,
      serverSecrets.serving,
      serverSecrets.tokens,
    ]);
    expect(await scene.names('kube-system', `slipway.dev/bootstrap-token-of=${scene.ours}`)).toEqual([]);

    // A new address, without a restart and before anything else of the stub changes.
    const moved = { type: 'BareMetal', baremetal: { apiServerInternalIPs: ['192.0.2.6'] } };
    const move = { type: 'merge', body: { status: { platformStatus: moved } } } as const;
    await cluster.client.patch(infrastructures, { name: 'cluster' }, move, {}, { subresource: 'status' });
    await until(async () => expect((await machineStub()).source).toContain('https://192.0.2.6:22623/'));
  });
});

describe('controllers that die between two writes', () => {
  // CA, certificate, tokens, bootstrap token, kubeconfig, copy of the other operator's stub, two stubs.
  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'before write %i, leave something that the next ones complete, and nothing besides',
    async (write) => {
      await scene.makeNamespace(scene.machineApi);
      await scene.makeNamespace(scene.clusterApi);
      const source = `https://api-int.example.com:22623/config/${scene.pool}`;
      const userData = JSON.stringify({ ignition: { version: '3.2.0', config: { merge: [{ source }] } } });
      await create(scene.machineApi, stubName(), { userData });
      const dying = scene.run({}, write);
      await until(() => expect(dying.log()).toContain('the process is dead'));
      await dying.stop();
      expect(dying.writes).toHaveLength(write - 1);

      scene.run();
      const stub = await untilCurrent();
      await until(async () => {
        expect(readStub(await scene.text(scene.clusterApi, stubName(), 'value'))).toEqual(stub);
        expect(await scene.names(scene.ours)).toEqual(Object.values(serverSecrets).sort());
      });
      expect(await scene.names(scene.machineApi)).toEqual([stubName(), `${stubName()}-before-slipway`]);
      expect(await scene.text(scene.machineApi, `${stubName()}-before-slipway`, 'userData')).toBe(userData);
      expect(await scene.names(scene.clusterApi)).toEqual([stubName()]);
      expect(await scene.names('kube-system', `slipway.dev/bootstrap-token-of=${scene.ours}`)).toHaveLength(1);
    },
  );
});
