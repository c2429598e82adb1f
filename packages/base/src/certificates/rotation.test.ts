import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, authorityData, makeAuthority, readAuthority, rotateAuthority } from './authority.ts';
import { isIssuedBy, issueServing, names, readServing, servingData } from './serving-certificate.ts';
import { readGreeting, startTlsServer, type TlsServer } from '@slipway/testing/tls-greeting';
import * as x509 from './x509.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;
const HOST = 'api-int.example.com';
const now = new Date();

let servers: TlsServer[] = [];
afterEach(async () => {
  for (const server of servers) await server.stop();
  servers = [];
});

async function startServer(authority: Authority, hosts = [HOST, '127.0.0.1', 'fd00::5']): Promise<TlsServer> {
  const server = await startTlsServer(servingData(await issueServing(authority, hosts, now, YEAR)));
  servers.push(server);
  return server;
}

describe('a machine whose stub', () => {
  let [first, second, third]: Authority[] = [];
  const at = (index: number): Authority => {
    const authority = [first, second, third][index];
    if (authority === undefined) throw new Error('no such authority');
    return authority;
  };
  beforeAll(async () => {
    first = await makeAuthority(now, 10 * YEAR);
    second = await rotateAuthority(first, now, 10 * YEAR);
    third = await rotateAuthority(second, now, 10 * YEAR);
  });

  it.each([
    ['predates the rotation trusts the new server', 0, 1],
    ['is newer than the rotation trusts the new server', 1, 1],
    ['is two rotations old trusts the newest server', 0, 2],
    ['is one rotation old trusts the newest server', 1, 2],
    ['is the newest trusts the newest server', 2, 2],
  ])('%s, with only its CA', async (_, stub, serving) => {
    const { port } = await startServer(at(serving));
    expect(await readGreeting(port, at(stub).certificate, HOST)).toBe('hello');
    expect(await readGreeting(port, at(stub).certificate, '127.0.0.1')).toBe('hello');
  });

  it('has the whole bundle trusts a server that is not renewed yet', async () => {
    const { port } = await startServer(at(0));
    expect(await readGreeting(port, authorityData(at(1))['ca-bundle.crt'], HOST)).toBe('hello');
    expect(await readGreeting(port, at(1).certificate, HOST)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('predates a lost CA does not trust the new one', async () => {
    const { port } = await startServer(await makeAuthority(now, 10 * YEAR));
    expect(await readGreeting(port, at(0).certificate, HOST)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('predates a rotation of a controller whose clock was ahead trusts the server when the clock is right again', async () => {
    const ahead = await rotateAuthority(at(0), new Date(now.getTime() + 41 * 24 * HOUR), 10 * YEAR);
    const { port } = await startServer(await rotateAuthority(ahead, now, 10 * YEAR));
    expect(await readGreeting(port, at(0).certificate, HOST)).toBe('hello');
  });

  it('names another host does not trust the server', async () => {
    const { port } = await startServer(at(0));
    expect(await readGreeting(port, at(0).certificate, 'other.example.com')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});

describe('a rotation', () => {
  it('drops expired CAs and their signatures', async () => {
    const first = await makeAuthority(now, HOUR);
    const second = await rotateAuthority(first, now, 10 * HOUR);
    const third = await rotateAuthority(second, new Date(now.getTime() + 2 * HOUR), 10 * HOUR);
    expect(third.older).toEqual([second.certificate]);
    expect(third.crossSigned).toHaveLength(1);
  });

  it('to a shorter validity keeps trust for machines with a long-lived CA', async () => {
    const first = await makeAuthority(now, 10 * YEAR);
    const second = await rotateAuthority(first, now, HOUR);
    const third = await rotateAuthority(second, now, HOUR);
    const ends = third.crossSigned.map((pem) => new x509.X509Certificate(pem).notAfter.getTime());
    const promised = new x509.X509Certificate(first.certificate).notAfter.getTime();
    expect(ends).toEqual([promised, promised]);
  });

  it('keeps only the new key', async () => {
    const first = await makeAuthority(now, YEAR);
    const second = await rotateAuthority(first, now, YEAR);
    expect(JSON.stringify(authorityData(second)).match(/PRIVATE KEY-----/g)).toHaveLength(2);
    expect(second.key).not.toBe(first.key);
  });

  it('of a CA from another program, with an RSA key and names in another encoding, keeps the trust of its machines', async () => {
    const foreign = await foreignAuthority();
    const read = readAuthority({ 'tls.crt': foreign.certificate, 'tls.key': foreign.key });
    if (!read.ok) throw new Error(read.problem);
    const { port } = await startServer(await rotateAuthority(read.authority, now, YEAR));
    expect(await readGreeting(port, foreign.certificate, HOST)).toBe('hello');

    // Go compares names byte for byte.
    const leaf = new x509.X509Certificate((await issueServing(read.authority, [HOST], now, YEAR)).leaf);
    const issuer = new x509.X509Certificate(foreign.certificate);
    expect(Buffer.from(leaf.issuerName.toArrayBuffer())).toEqual(Buffer.from(issuer.subjectName.toArrayBuffer()));
    expect(leaf.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId).toBe('0102030405');
  });
});

/** As another operator creates it: RSA, different string types, a custom key id. */
async function foreignAuthority(): Promise<{ certificate: string; key: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const keys = {
    privateKey: privateKey.toCryptoKey(algorithm, true, ['sign']),
    publicKey: publicKey.toCryptoKey(algorithm, true, ['verify']),
  };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name([{ OU: [{ utf8String: 'openshift' }] }, { CN: [{ printableString: 'root-ca' }] }]),
    notAfter: new Date(now.getTime() + YEAR),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.SubjectKeyIdentifierExtension('0102030405'),
    ],
  });
  return {
    certificate: certificate.toString('pem'),
    key: privateKey.export({ type: 'pkcs1', format: 'pem' }),
  };
}

describe('the CA in a Secret', () => {
  it('is read back unchanged', async () => {
    const authority = await rotateAuthority(await makeAuthority(now, YEAR), now, YEAR);
    expect(readAuthority(authorityData(authority))).toEqual({ ok: true, authority });
  });

  it('needs only certificate and key: the bundle can be rebuilt from them', async () => {
    const authority = await makeAuthority(now, YEAR);
    const { 'tls.crt': certificate, 'tls.key': key } = authorityData(authority);
    expect(readAuthority({ 'tls.crt': certificate, 'tls.key': key, 'ca-bundle.crt': 'lost' })).toEqual({
      ok: true,
      authority,
    });
  });

  it('loses signatures that do not chain to it', async () => {
    const authority = await rotateAuthority(await makeAuthority(now, YEAR), now, YEAR);
    const stranger = await rotateAuthority(await makeAuthority(now, YEAR), now, YEAR);
    const read = readAuthority({
      ...authorityData(authority),
      'cross-signed.crt': [...stranger.crossSigned, ...authority.crossSigned].join(''),
    });
    expect(read).toEqual({ ok: true, authority });
  });

  it.each([
    ['no certificate', { 'tls.crt': '' }, 'tls.crt'],
    [
      'a damaged certificate',
      { 'tls.crt': '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n' },
      'tls.crt',
    ],
    ['no key', { 'tls.key': '' }, 'tls.key'],
    ['a damaged key', { 'tls.key': '-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n' }, 'tls.key'],
  ])('is invalid with %s, and the problem names the field', async (_, damage, field) => {
    const data = { ...authorityData(await makeAuthority(now, YEAR)), ...damage };
    expect(readAuthority(data)).toMatchObject({ ok: false, field });
  });

  it('is invalid with the key of another CA, or with a server certificate', async () => {
    const [one, other] = [await makeAuthority(now, YEAR), await makeAuthority(now, YEAR)];
    expect(readAuthority({ ...authorityData(one), 'tls.key': other.key })).toMatchObject({ field: 'tls.key' });
    const { leaf, key } = await issueServing(one, [HOST], now, YEAR);
    expect(readAuthority({ 'tls.crt': leaf, 'tls.key': key })).toMatchObject({ field: 'tls.crt' });
  });
});

describe('a serving certificate', () => {
  it('is read back unchanged, with its hosts and its CA', async () => {
    const authority = await rotateAuthority(await makeAuthority(now, YEAR), now, YEAR);
    const serving = await issueServing(authority, [HOST, '10.0.0.1', 'fd00::5'], now, YEAR);
    expect(readServing(servingData(serving))).toEqual({ ok: true, serving });
    expect(isIssuedBy(serving, authority)).toBe(true);
    expect(isIssuedBy(serving, await makeAuthority(now, YEAR))).toBe(false);
    expect(names(serving, ['fd00::5', HOST, '10.0.0.1'])).toBe(true);
    expect(names(serving, [HOST, '10.0.0.1'])).toBe(false);
    expect(names(serving, [HOST, '10.0.0.2', 'fd00::5'])).toBe(false);
    expect(names(serving, ['other.example.com', '10.0.0.1', 'fd00::5'])).toBe(false);
  });

  it('is unusable with the key of another certificate', async () => {
    const authority = await makeAuthority(now, YEAR);
    const data = servingData(await issueServing(authority, [HOST], now, YEAR));
    expect(readServing({ ...data, 'tls.key': authority.key })).toMatchObject({ ok: false, field: 'tls.key' });
    expect(readServing({ ...data, 'tls.crt': 'x' })).toMatchObject({ ok: false, field: 'tls.crt' });
  });
});
