import { createPrivateKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signToken } from '@slipway/testing/certificates';
import { runSlipway } from '@slipway/testing/slipway-process';
import { borrowControlPlane, ensureAuthority, pickFreePort } from '@slipway/tools/controlplane';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';

let controlPlane: ControlPlane;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-bad-input-'));
  controlPlane = await borrowControlPlane();
});

afterAll(async () => {
  await controlPlane.stop();
  await rm(directory, { recursive: true });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function kubeconfig(name: string, content: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

const config = (server: string, ca: string, user: object): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'u', user }],
  });

/** A service-account token as the API server would sign it, but of yesterday. */
async function expiredToken(): Promise<string> {
  const key = createPrivateKey(await readFile(controlPlane.serviceAccountKeyPath));
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: 'https://kubernetes.default.svc',
    aud: ['https://kubernetes.default.svc'],
    sub: 'system:serviceaccount:default:default',
    iat: now - 90_000,
    exp: now - 86_400,
  };
  return signToken(key, claims);
}

/** One line on stderr, a code at its end, nothing on stdout, not 0, no stack. */
async function expectFailure(path: string, line: RegExp): Promise<void> {
  const { code, out, err } = await runSlipway('controller', '--kubeconfig', path);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  expect(err).toMatch(line);
  expect(err).toMatch(/^slipway: .* \[SLW_[A-Z_]+\]$/m);
  expect(err).not.toMatch(/\bat .*\.[jt]s:\d+/);
  expect(out).toBe('');
  expect(code).toBe(1);
  console.log(err.trim());
}

describe('what is wrong is one clear line that says what to do', () => {
  it('an unknown flag, without the secret in it', async () => {
    const { err, code } = await runSlipway('controller', '--registry-password=abc12');
    expect({ err, code }).toEqual({ err: expect.stringMatching(/unknown option.*SLW_CLI_USAGE/), code: 1 });
    expect(err).not.toContain('abc12');
  });

  it('a kubeconfig that is not there', async () => {
    await expectFailure(join(directory, 'nowhere'), /nowhere cannot be read.*SLW_KUBE_CONFIG_MISSING/);
  });

  it('a kubeconfig that is not YAML', async () => {
    await expectFailure(
      await kubeconfig('torn', 'clusters: [{name: x'),
      /torn: expected YAML or JSON, found a syntax error at line 1.*SLW_KUBE_CONFIG_INVALID/,
    );
  });

  it('a kubeconfig with a wrong field', async () => {
    const path = await kubeconfig('server', config('ftp://example.com', controlPlane.ca, {}));
    await expectFailure(
      path,
      /clusters\[0\]\.cluster\.server: expected an https:\/\/ address, found "ftp:.*SLW_KUBE_CONFIG_INVALID/,
    );
  });

  it('a CA that did not sign the server’s certificate', async () => {
    const other = await ensureAuthority(join(directory, 'other.pem'), 'slipway-control-plane');
    const path = await kubeconfig('ca', config(controlPlane.url, other.certificate, { token: 'x' }));
    await expectFailure(path, /certificate of https:.* is not trusted.*certificate-authority-data.*SLW_KUBE_TLS/);
  });

  it('an expired token', async () => {
    const path = await kubeconfig(
      'expired',
      config(controlPlane.url, controlPlane.ca, { token: await expiredToken() }),
    );
    await expectFailure(path, /the token expired at 20.*Log in again.*SLW_KUBE_UNAUTHORIZED/);
  });

  it('an unreachable server', async () => {
    const path = await kubeconfig(
      'closed',
      config(`https://127.0.0.1:${await pickFreePort()}`, controlPlane.ca, { token: 'x' }),
    );
    await expectFailure(
      path,
      /no connection to https:\/\/127\.0\.0\.1.*Check that the API server is running.*SLW_KUBE_UNREACHABLE/,
    );
  });

  it('CRDs that are not installed', async () => {
    await expectFailure(
      controlPlane.kubeconfig,
      /does not serve machineconfigs\.machineconfiguration\.openshift\.io, .*slipway install.*SLW_CLI_NOT_INSTALLED/,
    );
  });

  it('an identity that may not ask', async () => {
    const path = await controlPlane.kubeconfigFor({ user: 'nobody', groups: [], name: 'nobody' });
    const { code, err } = await runSlipway('install', '--kubeconfig', path);
    expect(err).toMatch(/^slipway: .*forbidden.*nobody.*\[SLW_KUBE_FORBIDDEN\]$/m);
    expect(code).toBe(1);
  });

  it('an unknown option or gate', async () => {
    const { code, err } = await runSlipway('controller', '--feature-gates', 'Pinned=true');
    expect(err).toContain('Pinned: expected one of ManagedBootImages, OSStreams, PinnedImages');
    expect(code).toBe(1);
    expect((await runSlipway('controler')).err).toContain('Did you mean controller?');
  });
});
