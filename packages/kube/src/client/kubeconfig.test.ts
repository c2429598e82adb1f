import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { makeScratch } from '../testing/scratch.ts';
import { KubeError } from './errors.ts';
import { type ClusterAccess, findAccess } from './access.ts';
import { accessFrom, loadKubeconfig } from './kubeconfig.ts';

const pair = await makeSelfSigned('somebody');
const other = await makeSelfSigned('x');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const caData = base64(pair.cert);

interface KubeconfigParts {
  cluster?: object | null;
  user?: object | null;
  context?: object | null;
}

/** A complete kubeconfig with the parts under test. */
function config({ cluster = {}, user = { token: 't' }, context = {} }: KubeconfigParts = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    contexts: [{ name: 'here', context: context && { cluster: 'c', user: 'u', ...context } }],
    clusters: [{ name: 'c', cluster: cluster && { server: 'https://k:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  };
}

const read = (content: unknown, context?: string): ClusterAccess =>
  accessFrom([{ path: '/etc/k/config', content }], context);

function readErrorMessage(content: unknown, context?: string): string {
  try {
    read(content, context);
  } catch (error) {
    if (error instanceof KubeError && error.code === 'SLW_KUBE_CONFIG_INVALID') return error.message;
    throw error;
  }
  return 'it was accepted';
}

describe('a kubeconfig', () => {
  it('with embedded data', async () => {
    const access = read(
      config({
        cluster: { server: 'https://k:6443/', 'certificate-authority-data': caData, 'tls-server-name': 'api' },
        user: { 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key) },
        context: { namespace: 'team' },
      }),
    );
    expect(access).toMatchObject({
      source: '/etc/k/config',
      server: 'https://k:6443',
      tlsServerName: 'api',
      proxy: undefined,
      namespace: 'team',
    });
    expect(await access.ca()).toBe(pair.cert);
    expect(await access.credentials.current()).toEqual({ certificate: pair });
  });

  it('with the minimum', async () => {
    const access = read(config({ user: {}, context: { user: undefined } }));
    expect(access).toMatchObject({ tlsServerName: undefined, proxy: undefined, namespace: 'default' });
    expect(await access.ca()).toBeUndefined();
    expect(await access.credentials.current()).toEqual({});
  });

  it('with a proxy', () => {
    expect(read(config({ cluster: { server: 'http://127.0.0.1:8001' } })).server).toBe('http://127.0.0.1:8001');
    expect(read(config({ cluster: { 'proxy-url': 'http://p:3128' } })).proxy).toBe('http://p:3128');
  });

  it('with a token and a client certificate: both are used', async () => {
    const user = { token: 't', 'client-certificate-data': base64(pair.cert), 'client-key-data': base64(pair.key) };
    expect(await read(config({ user })).credentials.current()).toEqual({ token: 't', certificate: pair });
  });

  it('with files: their paths are relative to the kubeconfig, not to the working directory', async () => {
    await using scratch = await makeScratch();
    await mkdir(join(scratch.path, 'pki'));
    await writeFile(join(scratch.path, 'pki', 'ca.crt'), pair.cert);
    await writeFile(join(scratch.path, 'pki', 'me.crt'), pair.cert);
    await writeFile(join(scratch.path, 'pki', 'me.key'), pair.key);
    const path = join(scratch.path, 'config');
    const user = { 'client-certificate': 'pki/me.crt', 'client-key': 'pki/me.key' };
    await writeFile(path, stringify(config({ cluster: { 'certificate-authority': 'pki/ca.crt' }, user })));
    const access = await loadKubeconfig([path]);
    expect(await access.ca()).toBe(pair.cert);
    expect(await access.credentials.current()).toEqual({ certificate: pair });
  });

  it('with a token file, which takes precedence over a token, as in kubectl', async () => {
    await using scratch = await makeScratch();
    await writeFile(join(scratch.path, 'token'), 'from the file'.replaceAll(' ', '-'));
    const path = join(scratch.path, 'config');
    await writeFile(path, stringify(config({ user: { token: 'inline', tokenFile: 'token' } })));
    expect(await (await loadKubeconfig([path])).credentials.current()).toEqual({ token: 'from-the-file' });
  });

  it('with a plugin next to it', async () => {
    await using scratch = await makeScratch();
    const script = '#!/bin/sh\nprintf \'{"status":{"token":"%s-%s"}}\' "$1" "$WHO"\n';
    await writeFile(join(scratch.path, 'login'), script, { mode: 0o755 });
    const path = join(scratch.path, 'config');
    const exec = { command: './login', args: ['for'], env: [{ name: 'WHO', value: 'me' }], interactiveMode: 'Never' };
    await writeFile(path, stringify(config({ user: { exec } })));
    expect(await (await loadKubeconfig([path])).credentials.current()).toMatchObject({ token: 'for-me' });
  });

  it('as JSON', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'config');
    await writeFile(path, JSON.stringify(config()));
    expect((await loadKubeconfig([path])).server).toBe('https://k:6443');
  });

  it('with several contexts: the requested one, else the current one', () => {
    const one = config() as { contexts: object[]; clusters: object[] };
    one.contexts.push({ name: 'there', context: { cluster: 'd', user: 'u' } });
    one.clusters.push({ name: 'd', cluster: { server: 'https://there:1' } });
    expect(read(one).server).toBe('https://k:6443');
    expect(read(one, 'there').server).toBe('https://there:1');
  });
});

describe('several kubeconfigs', () => {
  const file = (path: string, server: string, more: object = {}): { path: string; content: object } => ({
    path,
    content: { ...config({ cluster: { server } }), ...more },
  });

  it('are merged: the first definition wins', () => {
    const files = [file('/a', 'https://a'), file('/b', 'https://b')];
    expect(accessFrom(files).server).toBe('https://a');
  });

  it('complete each other', () => {
    const first = { path: '/a', content: { 'current-context': 'here' } };
    expect(accessFrom([first, file('/b', 'https://b', { 'current-context': 'elsewhere' })]).server).toBe('https://b');
  });

  it('are found through KUBECONFIG; empty and missing ones are ignored', async () => {
    await using scratch = await makeScratch();
    const [empty, path] = [join(scratch.path, 'empty'), join(scratch.path, 'config')];
    await writeFile(empty, '');
    await writeFile(path, stringify(config()));
    const env = { KUBECONFIG: [join(scratch.path, 'none'), empty, path].join(delimiter) };
    expect((await findAccess({}, env)).server).toBe('https://k:6443');
  });

  it('none of which exist are all named, with what to do', async () => {
    const env = { KUBECONFIG: ['/no/such', '/nor/this'].join(delimiter) };
    await expect(findAccess({}, env)).rejects.toMatchObject({
      code: 'SLW_KUBE_CONFIG_MISSING',
      message: `no cluster configured: none of the files in KUBECONFIG (${env.KUBECONFIG}) exists. Pass --kubeconfig FILE`,
    });
  });

  it('an explicit file takes precedence over KUBECONFIG', async () => {
    await expect(findAccess({ kubeconfig: '/no/such' }, { KUBECONFIG: '/other' })).rejects.toMatchObject({
      code: 'SLW_KUBE_CONFIG_MISSING',
      message: expect.stringContaining('kubeconfig /no/such cannot be read'),
    });
  });
});

describe('a kubeconfig that cannot be used names the field, what was expected and what was found', () => {
  const user = (value: object): object => config({ user: value });
  const cluster = (value: object): object => config({ cluster: value });
  const [u, c] = ['users[0].user', 'clusters[0].cluster'];

  it.each<[string, unknown, string]>([
    ['no object', [], 'the file: expected an object, found a list'],
    ['no current context', {}, 'current-context: expected the name of a context, found nothing. Pass --context NAME'],
    [
      'a current context that is no name',
      { 'current-context': 7 },
      'current-context: expected a string, found a number',
    ],
    ['an unknown context', { 'current-context': 'x' }, 'contexts: expected an entry named "x", found none'],
    ['contexts that are no list', { ...config(), contexts: {} }, 'contexts: expected a list, found an object'],
    [
      'a context that is no object',
      { ...config(), contexts: ['here'] },
      'contexts[0]: expected an object, found a string',
    ],
    ['a context without content', config({ context: null }), 'contexts[0].context: expected an object, found nothing'],
    ['an unknown cluster', config({ context: { cluster: 'x' } }), 'clusters: expected an entry named "x", found c'],
    [
      'no cluster',
      config({ context: { cluster: undefined } }),
      'contexts[0].context.cluster: expected a string, found nothing',
    ],
    ['an unknown user', config({ context: { user: 'x' } }), 'users: expected an entry named "x", found u'],
    ['a user that is no object', config({ user: null }), `${u}: expected an object, found nothing`],
    [
      'a server that is no address',
      cluster({ server: 'k:6443' }),
      `${c}.server: expected an https:// address, found "k:6443"`,
    ],
    [
      'a server of another protocol',
      cluster({ server: 'ftp://k' }),
      `${c}.server: expected an https:// address, found "ftp://k"`,
    ],
    [
      'a server elsewhere without TLS',
      cluster({ server: 'http://127.0.0.1.example.com' }),
      `${c}.server: expected an https:// address, or http:// on this machine, found "http://127.0.0.1.example.com": without TLS, anyone on the network could read the credentials`,
    ],
    [
      'a server with a password',
      cluster({ server: 'https://me:SECRET@k' }),
      `${c}.server: expected an address without user and password, found one with an @`,
    ],
    [
      'a CA that is no base64 of PEM',
      cluster({ 'certificate-authority-data': 'SECRET' }),
      `${c}.certificate-authority-data: expected base64 of PEM data, found something else`,
    ],
    [
      'a CA that is no certificate',
      cluster({ 'certificate-authority-data': base64('-----BEGIN SECRET-----') }),
      `${c}.certificate-authority-data: expected base64 of PEM certificates, found something else`,
    ],
    [
      'a CA that is a number',
      cluster({ 'certificate-authority-data': 7 }),
      `${c}.certificate-authority-data: expected a string, found a number`,
    ],
    [
      'a CA file that is not there',
      cluster({ 'certificate-authority': 'no.crt' }),
      `${c}.certificate-authority: expected a file with the CA, found /etc/k/no.crt, which cannot be read: Error: ENOENT: no such file or directory, open '/etc/k/no.crt'`,
    ],
    [
      'a proxy that is no address',
      cluster({ 'proxy-url': 'me:SECRET@p' }),
      `${c}.proxy-url: expected an http:// or https:// address, found something else`,
    ],
    ['a token that is a number', user({ token: 12345 }), `${u}.token: expected a string, found a number`],
    [
      'a certificate without its key',
      user({ 'client-certificate-data': caData }),
      `${u}: expected both a client certificate and its key, in the same form, found only one of them`,
    ],
    [
      'a certificate and a key in different forms',
      user({ 'client-certificate-data': caData, 'client-key': 'SECRET' }),
      `${u}: expected both a client certificate and its key, in the same form, found only one of them`,
    ],
    [
      'a key that is no PEM',
      user({ 'client-certificate-data': caData, 'client-key-data': 'SECRET' }),
      `${u}.client-key-data: expected base64 of PEM data, found something else`,
    ],
    [
      'a key of another certificate',
      user({ 'client-certificate-data': caData, 'client-key-data': base64(other.key) }),
      `${u}.client-key-data: expected the private key of client-certificate-data, found another key or none`,
    ],
    ['a plugin without a command', user({ exec: {} }), `${u}.exec.command: expected a string, found nothing`],
    ['a plugin that is no object', user({ exec: 'SECRET' }), `${u}.exec: expected an object, found a string`],
    [
      'an argument that is no string',
      user({ exec: { command: 'x', args: ['SECRET', 7] } }),
      `${u}.exec.args[1]: expected a string, found a number`,
    ],
    [
      'arguments that are no list',
      user({ exec: { command: 'x', args: 'SECRET' } }),
      `${u}.exec.args: expected a list, found a string`,
    ],
    [
      'a variable without a name',
      user({ exec: { command: 'x', env: [{ value: 'SECRET' }] } }),
      `${u}.exec.env[0].name: expected a string, found nothing`,
    ],
    [
      'a variable that is no object',
      user({ exec: { command: 'x', env: ['SECRET'] } }),
      `${u}.exec.env[0]: expected an object, found a string`,
    ],
  ])('%s', (_, content, expected) => {
    const message = readErrorMessage(content);
    expect(message).toBe(`kubeconfig /etc/k/config: ${expected}`);
    expect(message).not.toContain('SECRET');
  });

  it.each<[string, object, string]>([
    ['insecure-skip-tls-verify', config({ cluster: { 'insecure-skip-tls-verify': true } }), 'true is not allowed'],
    ['auth-provider', user({ 'auth-provider': { name: 'gcp' } }), 'no longer supports this login method'],
    ['username', user({ username: 'SECRET' }), 'no longer supports this login method'],
    ['password', user({ password: 'SECRET' }), 'no longer supports this login method'],
    ['as', user({ token: 'SECRET', as: 'somebody' }), 'impersonation is not supported'],
    ['as-groups', user({ token: 'SECRET', 'as-groups': ['x'] }), 'impersonation is not supported'],
    ['exec.interactiveMode', user({ exec: { command: 'x', interactiveMode: 'Always' } }), 'Always is not supported'],
  ])('%s is refused, with the reason', (field, content, expected) => {
    const message = readErrorMessage(content);
    expect(message).toContain(`.${field}: `);
    expect(message).toContain(expected);
    expect(message).not.toContain('SECRET');
  });

  it.each<[string, string, RegExp]>([
    ['broken YAML', 'users:\n- name: u\n  user: {token: SECRET\n', /found a syntax error at line \d+$/],
    ['two keys of one name', 'SECRET: 1\nSECRET: 2\n', /found a key that appears twice at line 2$/],
    ['an alias to nothing', 'token: *SECRET\n', /found an alias \(\*name\) that cannot be resolved$/],
    ['text', 'SECRET', /the file: expected an object, found a string$/],
  ])('%s, without quoting the file', async (_, text, expected) => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'config');
    await writeFile(path, text);
    const outcome = loadKubeconfig([path]).then(
      () => 'it was accepted',
      (error: unknown) => (error instanceof KubeError ? error.message : 'another error'),
    );
    expect(await outcome).toMatch(expected);
    expect(await outcome).not.toContain('SECRET');
  });

  it('a bomb of aliases is refused, not expanded', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'config');
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x,x]'];
    for (let n = 1; n < 12; n += 1)
      lines.push(
        `a${n}: &a${n} [${Array(10)
          .fill(`*a${n - 1}`)
          .join(',')}]`,
      );
    await writeFile(path, lines.join('\n'));
    await expect(loadKubeconfig([path])).rejects.toMatchObject({ code: 'SLW_KUBE_CONFIG_INVALID' });
  });
});
