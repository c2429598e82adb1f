import { randomUUID, X509Certificate } from 'node:crypto';
import {
  buildCrd,
  infrastructureKind,
  infrastructures,
  namespaces,
  type Secret,
  secrets,
  SINGLETON_NAME,
} from '@slipway/api';
import { type FirstBootSettings, serverSecrets } from '@slipway/fleet';
import {
  type Authority,
  authorityData,
  authorityFields,
  buildCaBundle,
  certificatesIn,
  isIssuedBy,
  issueServing,
  makeAuthority,
  readAuthority,
  readServing,
  servingData,
} from '@slipway/base/certificates';
import { type Client, type ControllerDef, createWriter, type Stored } from '@slipway/kube';
import { connectToShared } from '@slipway/testing/control-plane';
import { type ApiEvent, installCrd, listEvents } from '@slipway/testing/resources';
import { runControllers, type RunningControllers } from '@slipway/testing/run-controllers';
import { readGreeting, startTlsServer } from '@slipway/testing/tls-greeting';
import { until } from '@slipway/testing/wait';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { putSecret, textIn, textsIn } from '../managed-secret.ts';
import { certificatesController } from './certificates-controller.ts';

const SECOND = 1000;
const YEAR = 365 * 24 * 3600 * SECOND;
const HOST = 'api-int.example.com';

let client: Client;
let namespace: string;
let running: RunningControllers[] = [];

beforeAll(async () => {
  client = await connectToShared();
  await installCrd(client, buildCrd(infrastructureKind));
});
afterAll(() => client.transport.close());

beforeEach(async () => {
  namespace = `certificates-${randomUUID()}`;
  await client.create(namespaces, { metadata: { name: namespace } });
});
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

function run(settings: FirstBootSettings = {}, killAtWrite?: number): RunningControllers {
  return start(certificatesController({ namespace, serverUrl: `https://${HOST}:22623`, ...settings }), killAtWrite);
}

function start(controller: ControllerDef, killAtWrite?: number): RunningControllers {
  const started = runControllers(client, [controller], { killAtWrite });
  running.push(started);
  return started;
}

/** A leader whose clock is ahead by this much. */
function runAhead(ms: number, settings: FirstBootSettings = {}): RunningControllers {
  const controller = certificatesController({ namespace, serverUrl: `https://${HOST}:22623`, ...settings });
  const now = (): Date => new Date(Date.now() + ms);
  return start({ ...controller, reconcile: (key, context) => controller.reconcile(key, { ...context, now }) });
}

const find = (name: string): Promise<Stored<Secret> | undefined> => client.find(secrets, { namespace, name });

async function storedAuthority(): Promise<Authority> {
  const stored = await find(serverSecrets.authority);
  const read = readAuthority(stored === undefined ? {} : textsIn(stored, authorityFields));
  if (!read.ok) throw new Error(`${read.field}: ${read.problem}`);
  return read.authority;
}

async function storedServing(): Promise<Record<'tls.crt' | 'tls.key', string>> {
  const stored = await find(serverSecrets.serving);
  const data = stored === undefined ? {} : textsIn(stored, ['tls.crt', 'tls.key']);
  return { 'tls.crt': data['tls.crt'] ?? '', 'tls.key': data['tls.key'] ?? '' };
}

/** The CA, once it has issued the server's certificate. */
const untilInStep = (): Promise<Authority> =>
  until(async () => {
    const [authority, read] = [await storedAuthority(), readServing(await storedServing())];
    if (!read.ok || !isIssuedBy(read.serving, authority)) throw new Error('the certificate is not by the CA');
    expect(read.serving.intermediates).toEqual(authority.crossSigned);
    return authority;
  });

const eventsAbout = (name: string): Promise<ApiEvent[]> => listEvents(client, { namespace, name });

const untilEvent = (name: string, reason: string): Promise<ApiEvent> =>
  until(async () => {
    const event = (await eventsAbout(name)).find((each) => each.reason === reason);
    if (event === undefined) throw new Error(`no event ${reason}`);
    return event;
  });

async function edit(name: string, data: Record<string, string>): Promise<void> {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, btoa(text)]));
  await client.patch(secrets, { namespace, name }, { type: 'merge', body: { data: encoded } }, {});
}

async function secretNames(): Promise<string[]> {
  const found = await Array.fromAsync(client.list(secrets, { namespace }));
  return found.map(({ metadata }) => metadata.name).sort();
}

/** The response of a server with this certificate to a client that trusts only `ca`. */
async function greeting(data: Record<'tls.crt' | 'tls.key', string>, ca: string): Promise<string> {
  const server = await startTlsServer(data);
  try {
    return await readGreeting(server.port, ca, HOST);
  } finally {
    await server.stop();
  }
}

describe('the certificates of the server', () => {
  it('are created if there are none, and a second start changes nothing', async () => {
    const first = run();
    const authority = await untilInStep();
    expect(await secretNames()).toEqual([serverSecrets.authority, serverSecrets.serving]);
    expect(await greeting(await storedServing(), authority.certificate)).toBe('hello');
    expect(first.log()).not.toContain('PRIVATE KEY');
    await first.stop();

    const again = run();
    // It has checked once it reacts to a later change.
    await client.delete(secrets, { namespace, name: serverSecrets.serving }, {});
    await untilInStep();
    expect(again.writes).toEqual([`create Secret ${namespace}/${serverSecrets.serving}`]);
    expect((await storedAuthority()).certificate).toBe(authority.certificate);
  });

  it('rotate while machines boot all the time: a stub is valid until its CA expires', async () => {
    run({ caValidity: 9 * SECOND, caRefresh: 3 * SECOND, servingValidity: 4 * SECOND, servingRefresh: 2 * SECOND });
    await untilInStep();
    const first = await storedServing();
    const server = await startTlsServer(first);
    const readExpiry = (certificate: string): number => new X509Certificate(certificate).validToDate.getTime();
    let servedUntil = readExpiry(first['tls.crt']);
    /** The bundle of every stub so far, and when the newest CA in it expires. */
    const stubs = new Map<string, number>();
    const [failures, certificates] = [new Set<string>(), new Set<string>()];
    let [boots, late, afterTheEnd]: [number, number, string] = [0, 0, ''];
    const boot = async (ca: string, what: string): Promise<void> => {
      boots += 1;
      const heard = await readGreeting(server.port, ca, HOST);
      if (heard === 'hello') return;
      // A loaded machine may swap certificates of four seconds too late.
      if (Date.now() > servedUntil) late += 1;
      else failures.add(`${what}: ${heard}`);
    };
    try {
      const deadline = Date.now() + 40 * SECOND;
      while (afterTheEnd === '' && Date.now() < deadline) {
        const authority = await storedAuthority();
        stubs.set(buildCaBundle(authority), readExpiry(authority.certificate));
        for (const [bundle, end] of stubs) {
          // Close to its expiry, a handshake may be on either side of it.
          if (end - Date.now() > SECOND) await boot(bundle, 'a stub');
          else if (Date.now() - end > SECOND) afterTheEnd = await readGreeting(server.port, bundle, HOST);
        }
        const data = await storedServing();
        const read = readServing(data);
        server.swap(data);
        servedUntil = readExpiry(data['tls.crt']);
        certificates.add(data['tls.crt']);
        if (read.ok && isIssuedBy(read.serving, authority)) await boot(authority.certificate, 'the newest CA alone');
      }
    } finally {
      await server.stop();
    }
    console.log(
      `${boots} boots under ${stubs.size} CAs and ${certificates.size} certificates, failed: ${failures.size}`,
    );
    expect([...failures]).toEqual([]);
    expect(late).toBeLessThan(boots / 2);
    expect(stubs.size).toBeGreaterThanOrEqual(3);
    expect(certificates.size).toBeGreaterThanOrEqual(stubs.size);
    expect(afterTheEnd).toMatch(/^(CERT_HAS_EXPIRED|UNABLE_TO_GET_ISSUER_CERT_LOCALLY)$/);
    const [oldest = ''] = stubs.keys();
    await until(async () => expect((await storedAuthority()).older).not.toContain(oldest));
    expect(await untilEvent(serverSecrets.authority, 'AuthorityRotated')).toMatchObject({ type: 'Normal' });
  });

  it('follow the names of the server, under the same CA', async () => {
    const first = run();
    const { certificate } = await untilInStep();
    await first.stop();
    run({ serverHosts: ['192.0.2.7'] });
    await until(async () => {
      const read = readServing(await storedServing());
      expect(read.ok && new X509Certificate(read.serving.leaf).subjectAltName).toBe(
        `DNS:${HOST}, IP Address:192.0.2.7`,
      );
    });
    expect((await storedAuthority()).certificate).toBe(certificate);
  });

  it('wait, with the CA already created, if the address of the server is unknown', async () => {
    const started = run({ serverUrl: undefined });
    await until(() => expect(started.log()).toMatch(/gets no certificate.*--server-url/));
    expect(await secretNames()).toEqual([serverSecrets.authority]);
  });
});

describe('a leader whose clock was 41 days ahead', () => {
  const DAY = 24 * 3600 * SECOND;
  const AHEAD = 41 * DAY;
  const monthly = { servingValidity: 60 * DAY, servingRefresh: 40 * DAY };

  const untilUsable = (ca: string): Promise<void> =>
    until(async () => expect(await greeting(await storedServing(), ca)).toBe('hello'));

  it('leaves a certificate that the next reconcile replaces, under the same CA', async () => {
    const first = run(monthly);
    const { certificate } = await untilInStep();
    await first.stop();
    const leaf = (await storedServing())['tls.crt'];
    const ahead = runAhead(AHEAD, monthly);
    await until(async () => expect((await storedServing())['tls.crt']).not.toBe(leaf));
    await ahead.stop();
    expect(await greeting(await storedServing(), certificate)).toBe('CERT_NOT_YET_VALID');

    const back = run(monthly);
    await untilUsable(certificate);
    expect(back.writes).toEqual([`patch Secret ${namespace}/${serverSecrets.serving}`]);
    expect((await storedAuthority()).certificate).toBe(certificate);
    const event = await untilEvent(serverSecrets.serving, 'ServingCertificateRenewed');
    expect(event.message).toMatch(/renewed/);
    expect(back.log()).toContain('it was not valid yet');
  });

  it('leaves a CA that the next reconcile rotates, and machines with the stub of that time are not forgotten', async () => {
    const ahead = runAhead(AHEAD);
    const early = await untilInStep();
    await ahead.stop();
    expect(await greeting(await storedServing(), early.certificate)).toBe('CERT_NOT_YET_VALID');

    const back = run();
    await until(async () => expect((await storedAuthority()).certificate).not.toBe(early.certificate));
    const authority = await untilInStep();
    await untilUsable(authority.certificate);
    await untilUsable(buildCaBundle(authority));
    expect(authority.older).toEqual([early.certificate]);
    expect(back.writes).toHaveLength(2);
  });
});

describe('a damaged Secret', () => {
  it('is recreated if the CA’s key is lost, with a warning about machines with old stubs', async () => {
    run();
    const before = await untilInStep();
    await edit(serverSecrets.authority, { 'tls.key': 'oops' });
    const event = await untilEvent(serverSecrets.authority, 'AuthorityLost');
    expect(event).toMatchObject({ type: 'Warning' });
    expect(event.message).toMatch(
      /tls\.key: expected the private key of tls\.crt.*do not boot until they get the current stub/,
    );
    const after = await untilInStep();
    expect(after.certificate).not.toBe(before.certificate);
    expect(await greeting(await storedServing(), after.certificate)).toBe('hello');
  });

  it('is repaired if certificate and key are there: the CA stays', async () => {
    run();
    const before = await untilInStep();
    await edit(serverSecrets.authority, { 'ca-bundle.crt': 'oops' });
    await untilEvent(serverSecrets.authority, 'AuthorityPutInOrder');
    expect(await untilInStep()).toEqual(before);
    const stored = await find(serverSecrets.authority);
    expect(stored === undefined ? '' : textIn(stored, 'ca-bundle.crt')).toBe(before.certificate);
  });

  it('is recreated if only the server’s certificate is damaged: the CA stays', async () => {
    run();
    const before = await untilInStep();
    await edit(serverSecrets.serving, { 'tls.crt': 'oops' });
    await until(async () => {
      const found = (await eventsAbout(serverSecrets.serving)).filter(({ type }) => type === 'Warning');
      expect(found.map(({ message }) => message)).toEqual([expect.stringMatching(/tls\.crt: expected a certificate/)]);
    });
    expect((await untilInStep()).certificate).toBe(before.certificate);
  });
});

describe('the address of the platform', () => {
  const name = SINGLETON_NAME;
  const setAddress = async (host: string): Promise<void> => {
    const status = { apiServerInternalURI: `https://${host}:6443` };
    await client.patch(infrastructures, { name }, { type: 'merge', body: { status } }, {}, { subresource: 'status' });
  };
  const untilNames = (host: string): Promise<void> =>
    until(async () => {
      const read = readServing(await storedServing());
      expect(read.ok && new X509Certificate(read.serving.leaf).subjectAltName).toBe(`DNS:${host}`);
    });

  it('is followed immediately when it is known or changes, without a restart and before the next hour', async () => {
    const started = run({ serverUrl: undefined });
    await until(() => expect(started.log()).toMatch(/gets no certificate/));
    await client.create(infrastructures, { metadata: { name }, spec: {} });
    try {
      await setAddress('api-int.one.example.com');
      await untilNames('api-int.one.example.com');
      await setAddress('api-int.two.example.com');
      await untilNames('api-int.two.example.com');
    } finally {
      await client.delete(infrastructures, { name }, {});
    }
  });
});

describe('a controller that dies between two writes', () => {
  it.each([1, 2])('of its first start (before write %i) leaves a state that the next one completes', async (write) => {
    const dying = run({}, write);
    await until(() => expect(dying.log()).toContain('the process is dead'));
    await dying.stop();
    run();
    const authority = await untilInStep();
    expect(await secretNames()).toEqual([serverSecrets.authority, serverSecrets.serving]);
    expect(await greeting(await storedServing(), authority.certificate)).toBe('hello');
  });

  it.each([1, 2])('of a rotation (before write %i) leaves a server that old and new stubs trust', async (write) => {
    const old = await makeAuthority(new Date(Date.now() - 9 * YEAR), 10 * YEAR);
    const { authority: authorityName, serving: servingName } = serverSecrets;
    const writer = createWriter(client, { fieldManager: 'test' });
    const put = (name: string, data: Record<string, string>) =>
      putSecret(writer, undefined, { name: { namespace, name }, type: 'kubernetes.io/tls', data });
    await put(authorityName, authorityData(old));
    await put(servingName, servingData(await issueServing(old, [HOST], new Date(), YEAR)));

    const dying = run({}, write);
    await until(() => expect(dying.log()).toContain('the process is dead'));
    await dying.stop();
    const between = await storedAuthority();
    expect(between.certificate === old.certificate).toBe(write === 1);
    expect(await greeting(await storedServing(), old.certificate)).toBe('hello');
    expect(await greeting(await storedServing(), authorityData(between)['ca-bundle.crt'])).toBe('hello');

    run();
    const after = await until(async () => {
      const authority = await untilInStep();
      expect(authority.older).toEqual([old.certificate]);
      return authority;
    });
    for (const ca of [old.certificate, after.certificate]) {
      expect(await greeting(await storedServing(), ca)).toBe('hello');
    }
    expect(certificatesIn((await storedServing())['tls.crt']).certificates).toHaveLength(2);
    expect(await secretNames()).toEqual([authorityName, servingName]);
  });
});
