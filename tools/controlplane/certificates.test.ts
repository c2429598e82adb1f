import { X509Certificate, createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureAuthority, ensureIdentity, ensureSigningKey, type Identity } from './certificates.ts';

const DAY = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY);

describe('certificates', () => {
  let directory: string;
  let authority: Identity;
  const file = (name: string) => join(directory, name);
  const server = { commonName: 'kube-apiserver', hosts: ['localhost', '127.0.0.1'] };
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-pki-'));
    authority = await ensureAuthority(file('ca.pem'), 'test');
  });
  afterEach(() => rm(directory, { recursive: true }));

  it("a server's certificate is signed by the authority and good for its hosts and no others", async () => {
    const identity = await ensureIdentity(authority, file('server.pem'), server);
    const certificate = new X509Certificate(identity.certificate);
    const issuer = new X509Certificate(authority.certificate);
    expect(issuer.ca).toBe(true);
    expect(certificate.ca).toBe(false);
    expect(certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)).toBe(true);
    expect(certificate.checkPrivateKey(createPrivateKey(identity.key))).toBe(true);
    expect(certificate.checkHost('localhost')).toBe('localhost');
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(certificate.checkHost('example.org')).toBeUndefined();
  });

  it('a user and its groups are in the subject as RBAC reads them, whatever characters they have', async () => {
    const request = { commonName: 'system:node:a,CN=admin', organizations: ['system:nodes', 'b+c'] };
    const { certificate } = await ensureIdentity(authority, file('user.pem'), request);
    const { subject } = new X509Certificate(certificate).toLegacyObject();
    expect(subject).toMatchObject({ CN: 'system:node:a,CN=admin', O: ['system:nodes', 'b+c'] });
  });

  it('only their owner may read the files', async () => {
    await ensureIdentity(authority, file('user.pem'), { commonName: 'ana' });
    await ensureSigningKey(file('sa.key'));
    for (const name of ['ca.pem', 'user.pem', 'sa.key']) {
      expect((await stat(file(name))).mode & 0o777).toBe(0o600);
    }
  });

  it('existing valid files are kept', async () => {
    const ana = { commonName: 'ana:b', organizations: ['x', 'y'] };
    const before = await ensureIdentity(authority, file('server.pem'), server);
    const user = await ensureIdentity(authority, file('user.pem'), ana);
    expect(await ensureAuthority(file('ca.pem'), 'test')).toEqual(authority);
    expect(await ensureIdentity(authority, file('server.pem'), server)).toEqual(before);
    expect(await ensureIdentity(authority, file('user.pem'), ana)).toEqual(user);
  });

  it('a certificate is renewed a month before its expiry, and the authority too', async () => {
    const before = await ensureIdentity(authority, file('server.pem'), server);
    expect(await ensureIdentity(authority, file('server.pem'), server, inDays(334))).toEqual(before);
    expect(await ensureIdentity(authority, file('server.pem'), server, inDays(336))).not.toEqual(before);
    expect(await ensureAuthority(file('ca.pem'), 'test', inDays(3649))).not.toEqual(authority);
  });

  it.each<[string, Partial<typeof server> & { organizations?: string[] }]>([
    ['other hosts', { hosts: ['localhost', '127.0.0.1', '10.0.0.1'] }],
    ['another name', { commonName: 'etcd' }],
    ['other groups', { organizations: ['system:masters'] }],
  ])('a certificate for %s is replaced', async (_, change) => {
    const before = await ensureIdentity(authority, file('server.pem'), server);
    expect(await ensureIdentity(authority, file('server.pem'), { ...server, ...change })).not.toEqual(before);
  });

  it('a certificate of another authority is replaced', async () => {
    const other = await ensureAuthority(file('other.pem'), 'test');
    const before = await ensureIdentity(other, file('server.pem'), server);
    expect(await ensureIdentity(authority, file('server.pem'), server)).not.toEqual(before);
  });

  it('a damaged file is replaced', async () => {
    await ensureIdentity(authority, file('server.pem'), server);
    await truncate(file('server.pem'), 300);
    const after = await ensureIdentity(authority, file('server.pem'), server);
    expect(await readFile(file('server.pem'), 'utf8')).toContain(after.key);
  });

  it('the key for tokens is kept, with its public half', async () => {
    await ensureSigningKey(file('sa.key'));
    const before = await readFile(file('sa.key'), 'utf8');
    await ensureSigningKey(file('sa.key'));
    expect(await readFile(file('sa.key'), 'utf8')).toBe(before);
    const published = before.slice(before.indexOf('-----BEGIN PUBLIC KEY'));
    expect(createPublicKey(published).equals(createPublicKey(createPrivateKey(before)))).toBe(true);
  });
});
