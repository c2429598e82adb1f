import { readFileSync } from 'node:fs';
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { until } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { makeScratch } from '../testing/scratch.ts';
import {
  belongTogether,
  bothCredentials,
  certificateFileCredentials,
  execCredentials,
  type ExecPlugin,
  fixedCredentials,
  parseExecCredential,
  tokenExpiry,
  tokenFileCredentials,
} from './credentials.ts';
import { isKubeError } from './errors.ts';

let age = 0;

/** Like the kubelet: the new file is complete before it replaces the old one. */
async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  // Explicit times: two files written within one tick of the file system's clock would look the same.
  age += 1;
  await utimes(`${path}.new`, age, age);
  await rename(`${path}.new`, path);
}

describe('a token file', () => {
  it('returns the new token after the file was replaced', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    await replace(path, 'one\n');
    const credentials = tokenFileCredentials(path, { lookEveryMs: 0 });
    expect(await credentials.current()).toEqual({ token: 'one' });
    await replace(path, 'two\n');
    expect(await credentials.current()).toEqual({ token: 'two' });
  });

  it('is not checked before every request, but immediately after the server refused its token', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    await replace(path, 'one');
    const credentials = tokenFileCredentials(path, { lookEveryMs: 60_000 });
    await credentials.current();
    await replace(path, 'two');
    expect(await credentials.current()).toEqual({ token: 'one' });
    await credentials.refresh();
    expect(await credentials.current()).toEqual({ token: 'two' });
  });

  it('that is missing or empty for a moment does not take away the last token', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    await replace(path, 'one');
    const credentials = tokenFileCredentials(path, { lookEveryMs: 0 });
    await credentials.current();
    await replace(path, '');
    expect(await credentials.current()).toEqual({ token: 'one' });
    await rm(path);
    await credentials.refresh();
    expect(await credentials.current()).toEqual({ token: 'one' });
    await replace(path, 'two');
    expect(await credentials.current()).toEqual({ token: 'two' });
  });

  it.each<[string, string | undefined, string]>([
    ['missing', undefined, 'cannot be read: Error: ENOENT'],
    ['empty', ' \n', 'is empty: expected a bearer token'],
    ['huge', 'x'.repeat(2 ** 20 + 1), 'expected at most 1048576 bytes, found 1048577'],
  ])('that is %s is reported in one line with its path', async (_, content, expected) => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    if (content !== undefined) await writeFile(path, content);
    await expect(tokenFileCredentials(path).current()).rejects.toSatisfy(
      (error) =>
        isKubeError(error, 'SLW_KUBE_CREDENTIALS') && [path, expected].every((part) => error.message.includes(part)),
    );
  });
});

describe('certificate files', () => {
  it('return the same object while nothing changes, and the new pair after both were replaced', async () => {
    await using scratch = await makeScratch();
    const [cert, key] = [join(scratch.path, 'cert'), join(scratch.path, 'key')];
    const [old, next] = [await makeSelfSigned('old'), await makeSelfSigned('next')];
    await replace(cert, old.cert);
    await replace(key, old.key);
    const credentials = certificateFileCredentials(cert, key, { lookEveryMs: 0 });
    const first = await credentials.current();
    expect(first.certificate).toEqual(old);
    expect((await credentials.current()).certificate).toBe(first.certificate);

    await rm(key);
    expect((await credentials.current()).certificate, 'one is missing: the old pair').toBe(first.certificate);
    await replace(cert, next.cert);
    await replace(key, old.key);
    expect((await credentials.current()).certificate, 'half replaced: the old pair').toBe(first.certificate);
    await replace(key, next.key);
    expect((await credentials.current()).certificate).toEqual(next);
  });

  it('that do not match are reported before anything is sent', async () => {
    await using scratch = await makeScratch();
    const [cert, key] = [join(scratch.path, 'cert'), join(scratch.path, 'key')];
    await writeFile(cert, (await makeSelfSigned('one')).cert);
    await writeFile(key, (await makeSelfSigned('other')).key);
    await expect(certificateFileCredentials(cert, key).current()).rejects.toMatchObject({
      code: 'SLW_KUBE_CREDENTIALS',
      message: `${key}: expected the private key of the certificate in ${cert}, found another one or none`,
    });
  });

  it('match only with the exact key', async () => {
    const one = await makeSelfSigned('one');
    expect(belongTogether(one)).toBe(true);
    expect(belongTogether({ cert: one.cert, key: (await makeSelfSigned('other')).key })).toBe(false);
    expect(belongTogether({ cert: one.cert, key: 'no key' })).toBe(false);
    expect(belongTogether({ cert: 'no certificate', key: one.key })).toBe(false);
  });
});

it('a token and a certificate are sent together', async () => {
  const certificate = await makeSelfSigned('one');
  const both = bothCredentials(fixedCredentials({ token: 't' }, 'a'), fixedCredentials({ certificate }, 'b'));
  expect(await both.current()).toEqual({ token: 't', certificate });
  expect(both.source).toBe('a and b');
});

describe('the expiry of a token', () => {
  const jwt = (claims: unknown): string =>
    ['{}', JSON.stringify(claims), 'signature'].map((part) => Buffer.from(part).toString('base64url')).join('.');

  it.each<[string, string, string | undefined]>([
    ['a JWT says it', jwt({ exp: 1_700_000_000 }), '2023-11-14T22:13:20.000Z'],
    ['a JWT without exp does not', jwt({ sub: 'x' }), undefined],
    ['nor with an exp that is no number', jwt({ exp: 'soon' }), undefined],
    ['nor with one that is no date', jwt({ exp: 1e300 }), undefined],
    ['nor a JWT of null', jwt(null), undefined],
    ['nor an opaque token', 'abcdef', undefined],
    ['nor dots without JSON', 'a.b.c', undefined],
  ])('%s', (_, token, expected) => expect(tokenExpiry(token)?.toISOString()).toBe(expected));
});

const plugin = (script: string, more: Partial<ExecPlugin> = {}): ExecPlugin => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  command: '/bin/sh',
  args: ['-c', script],
  env: {},
  installHint: undefined,
  ...more,
});

const answer = (status: object): string =>
  `'${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}'`;

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A plugin that counts its runs and returns the count as the token. */
const counting = (log: string, expirationTimestamp?: string): ExecPlugin => {
  const status = answer({ token: 'N', ...(expirationTimestamp === undefined ? {} : { expirationTimestamp }) });
  return plugin(`echo run >> ${log}; printf %s ${status} | sed "s/\\"N\\"/\\"$(wc -l < ${log} | tr -d ' ')\\"/"`);
};

describe('a credential plugin', () => {
  it('runs once, and its token is used until it expires', async () => {
    await using scratch = await makeScratch();
    const credentials = execCredentials(counting(join(scratch.path, 'log'), inMs(3_600_000)));
    expect(await Promise.all([credentials.current(), credentials.current()])).toMatchObject([
      { token: '1' },
      { token: '1' },
    ]);
    expect(await credentials.current()).toMatchObject({ token: '1' });
  });

  it('runs again shortly before its token expires', async () => {
    await using scratch = await makeScratch();
    const credentials = execCredentials(counting(join(scratch.path, 'log'), inMs(20_000)));
    expect(await credentials.current()).toMatchObject({ token: '1' });
    expect(await credentials.current()).toMatchObject({ token: '2' });
  });

  it('runs again when the server refuses its token', async () => {
    await using scratch = await makeScratch();
    const credentials = execCredentials(counting(join(scratch.path, 'log')));
    await credentials.current();
    await credentials.refresh();
    expect(await credentials.current()).toMatchObject({ token: '2' });
  });

  it('receives its request and its environment, and no terminal', async () => {
    const script = `printf '{"status":{"token":"%s.%s.%s"}}' "$OWN" "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')" "$(cat | wc -c | tr -d ' ')"`;
    const { token = '' } = await execCredentials(plugin(script, { env: { OWN: 'own' } })).current();
    const [own, info = '', input] = token.split('.');
    expect(own).toBe('own');
    expect(JSON.parse(Buffer.from(info, 'base64').toString())).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false },
    });
    expect(input).toBe('0');
  });

  it('that fails is named, with the last line of its output and the hint from the kubeconfig', async () => {
    const failing = plugin('echo first >&2; echo "not logged in" >&2; exit 3', {
      installHint: 'get it from your team',
    });
    await expect(execCredentials(failing).current()).rejects.toMatchObject({
      code: 'SLW_KUBE_CREDENTIALS',
      message:
        'credential plugin /bin/sh: exited with code 3: not logged in. Run it manually to see what it needs. The kubeconfig suggests: get it from your team',
    });
  });

  it('that does not exist is reported', async () => {
    await expect(execCredentials(plugin('', { command: '/no/such/plugin' })).current()).rejects.toMatchObject({
      code: 'SLW_KUBE_CREDENTIALS',
      message: expect.stringContaining('cannot be started: spawn /no/such/plugin ENOENT'),
    });
  });

  it('that hangs is killed at the time limit, with its child processes', async () => {
    await using scratch = await makeScratch();
    const pidFile = join(scratch.path, 'pid');
    const hanging = plugin(`sleep 600 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`);
    const began = performance.now();
    const outcome = execCredentials(hanging, { timeLimitMs: 400 }).current();
    await expect(outcome).rejects.toThrow('did not answer within 0.4 s');
    expect(performance.now() - began).toBeLessThan(5000);
    const pid = Number(await readFile(pidFile, 'utf8'));
    await until(() => expect(isRunning(pid)).toBe(false), 'process');
  });

  it('that never stops printing is killed at the size limit', async () => {
    const outcome = execCredentials(
      plugin('while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done'),
    ).current();
    await expect(outcome).rejects.toThrow('its output is longer than 1048576 bytes');
  });

  it('that prints endless errors uses bounded memory', async () => {
    const chatty = plugin('i=0; while [ $i -lt 2000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 1');
    await expect(execCredentials(chatty).current()).rejects.toThrow('code 1: line 1999');
  });

  it('is retried at the next request after a failure', async () => {
    await using scratch = await makeScratch();
    const flag = join(scratch.path, 'flag');
    const credentials = execCredentials(plugin(`test -e ${flag} && echo ${answer({ token: 'now' })}`));
    await expect(credentials.current()).rejects.toThrow('exited with code 1');
    await writeFile(flag, '');
    expect(await credentials.current()).toMatchObject({ token: 'now' });
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A killed process that has not been reaped yet still exists, as a zombie.
    return process.platform !== 'linux' || !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

describe("a plugin's answer", () => {
  const from = plugin('', { command: 'login' });

  it.each<[string, string]>([
    ['is no JSON', 'secret-and-garbage'],
    ['is JSON but no object', '"secret"'],
    ['has no status', '{"token":"secret"}'],
    ['has a status that is null', '{"status":null}'],
    ['has neither token nor certificate', '{"status":{"user":"secret"}}'],
    ['has an empty token', '{"status":{"token":"","user":"secret"}}'],
    ['has a token that is no string', '{"status":{"token":{"secret":1}}}'],
    ['has a certificate without its key', '{"status":{"clientCertificateData":"secret"}}'],
  ])('that %s is refused, without quoting it', (_, output) => {
    const parse = (): unknown => parseExecCredential(output, from);
    expect(parse).toThrow(/^credential plugin login: its output (is not an ExecCredential with a status|has neither)/);
    expect(parse).not.toThrow(/secret/);
  });

  it('may be a client certificate', () => {
    const output = JSON.stringify({ status: { clientCertificateData: 'c', clientKeyData: 'k' } });
    expect(parseExecCredential(output, from)).toEqual({
      identity: { token: undefined, certificate: { cert: 'c', key: 'k' } },
      until: Number.POSITIVE_INFINITY,
    });
  });

  it('with an invalid expiry counts as expired, so that it is fetched again', () => {
    const output = JSON.stringify({ status: { token: 't', expirationTimestamp: 'tomorrow' } });
    expect(parseExecCredential(output, from).until).toBe(0);
  });
});
