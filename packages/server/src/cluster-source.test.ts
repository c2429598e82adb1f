import type { Secret } from '@slipway/api';
import { serverSecrets } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { readSecrets } from './cluster-source.ts';

const secret = (name: string, data: Record<string, string>): Secret => ({
  metadata: { name },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
});
const token = { token: 't'.repeat(43), created: '2026-01-01T00:00:00Z', expires: '2026-01-02T00:00:00Z' };
const complete = {
  serving: secret(serverSecrets.serving, { 'tls.crt': 'CERT', 'tls.key': 'KEY' }),
  tokens: secret(serverSecrets.tokens, { worker: JSON.stringify([token]) }),
  kubeconfig: secret(serverSecrets.kubeconfig, { kubeconfig: 'CONFIG', 'ca.crt': 'CA' }),
};

describe('what the Secrets say', () => {
  it('is everything the server needs', () => {
    expect(readSecrets(complete, true)).toEqual({
      certificate: { cert: 'CERT', key: 'KEY' },
      node: { kubeconfig: 'CONFIG', caBundle: 'CA' },
      tokens: new Map([['worker', [token]]]),
      problems: [],
    });
  });

  it.each([
    ['serving', 'certificate', serverSecrets.serving],
    ['kubeconfig', 'node', serverSecrets.kubeconfig],
  ] as const)('is all the rest when %s is missing', (which, input, name) => {
    const read = readSecrets({ ...complete, [which]: undefined }, true);
    expect(read[input]).toBeUndefined();
    expect(read.tokens.size).toBe(1);
    expect(read.problems).toEqual([expect.stringContaining(`Secret ${name} does not exist yet`)]);
  });

  it('names the missing field, and treats half a key pair as none', () => {
    const read = readSecrets({ ...complete, serving: secret(serverSecrets.serving, { 'tls.crt': 'CERT' }) }, true);
    expect(read.certificate).toBeUndefined();
    expect(read.problems).toEqual([expect.stringContaining(`Secret ${serverSecrets.serving}, data["tls.key"]`)]);
  });

  it('has the tokens of the other pools when those of one are damaged, and shows none of them', () => {
    const tokens = secret(serverSecrets.tokens, { worker: JSON.stringify([token]), infra: '["secret"]' });
    const read = readSecrets({ ...complete, tokens }, true);
    expect([...read.tokens.keys()]).toEqual(['worker']);
    expect(read.problems).toEqual([expect.stringContaining('data["infra"]')]);
    expect(read.problems.join()).not.toContain('secret"]');
  });

  it('needs no tokens if machines are served without one', () => {
    expect(readSecrets({ ...complete, tokens: undefined }, false)).toMatchObject({ tokens: new Map(), problems: [] });
    expect(readSecrets({ ...complete, tokens: undefined }, true).problems).toHaveLength(1);
  });
});
