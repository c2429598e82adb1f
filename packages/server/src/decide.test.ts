import { describe, expect, it } from 'vitest';
import { decide } from './decide.ts';
import type { Asked, Rules } from './decide.ts';

const nothing: Asked = {
  method: 'GET',
  url: '/config/worker',
  accept: undefined,
  authorization: undefined,
  contentLength: undefined,
  transferEncoding: undefined,
};
const rules: Rules = { allowAnonymous: false, behind: false, now: Date.parse('2026-01-02T00:00:00Z') };
const token = (text: string, expires: string) => ({ token: text, created: '2026-01-01T00:00:00Z', expires });
const inputs = {
  pools: new Map([
    ['worker', 'rendered-worker-1'],
    ['infra', undefined],
  ]),
  tokens: new Map([
    ['worker', [token('new', '2026-01-03T00:00:00Z'), token('old', '2026-01-01T12:00:00Z')]],
    ['infra', [token('infra', '2026-01-03T00:00:00Z')]],
  ]),
};
const valid = 'Bearer new';

describe('a request', () => {
  it.each<[string, Partial<Asked>, Partial<Rules>, object]>([
    [
      'with a valid token is answered',
      { authorization: valid },
      {},
      { to: 'config', pool: 'worker', access: 'token', version: '2.2.0', form: 'plain' },
    ],
    [
      'for a pool without a config is looked up too',
      { url: '/config/infra', authorization: 'Bearer infra' },
      {},
      { to: 'config', pool: 'infra' },
    ],
    [
      'without a token is refused',
      {},
      {},
      { status: 401, code: 'SLW_SERVER_TOKEN', headers: { 'www-authenticate': 'Bearer' } },
    ],
    ['with the token of another pool is refused', { authorization: 'Bearer infra' }, {}, { status: 401 }],
    [
      'with an expired token is refused',
      { authorization: 'Bearer old' },
      {},
      { status: 401, message: expect.stringContaining('has expired') },
    ],
    [
      'with an expired token is refused though we may be behind',
      { authorization: 'Bearer old' },
      { behind: true },
      { status: 401 },
    ],
    [
      'with a token we may not know yet comes back',
      { authorization: 'Bearer newer' },
      { behind: true },
      { status: 503, headers: { 'retry-after': '5' } },
    ],
    [
      'without a token is answered where that is allowed',
      {},
      { allowAnonymous: true },
      { to: 'config', access: 'anonymous' },
    ],
    [
      'with an expired token is answered where none is needed',
      { authorization: 'Bearer old' },
      { allowAnonymous: true },
      { to: 'config', access: 'anonymous' },
    ],
    [
      'for an unknown pool is refused',
      { url: '/config/none', authorization: valid },
      {},
      { status: 404, code: 'SLW_SERVER_POOL' },
    ],
    ['for a pool we may not know yet comes back', { url: '/config/none' }, { behind: true }, { status: 503 }],
    ['for another path is refused', { url: '/' }, {}, { status: 404, code: 'SLW_SERVER_PATH' }],
    [
      'with another method is refused',
      { method: 'POST', authorization: valid },
      {},
      { status: 405, headers: { allow: 'GET, HEAD' } },
    ],
    ['with a body is refused', { authorization: valid, contentLength: '1' }, {}, { status: 413 }],
    [
      'with a body of unknown length is refused',
      { authorization: valid, transferEncoding: 'chunked' },
      {},
      { status: 413 },
    ],
    ['with an empty body is answered', { authorization: valid, contentLength: '0' }, {}, { to: 'config' }],
    [
      'for a version we do not serve is refused',
      { authorization: valid, accept: 'application/vnd.coreos.ignition+json;version=4.0.0' },
      {},
      { status: 400, code: 'SLW_SERVER_VERSION' },
    ],
    [
      'for a version says nothing to who has no token',
      { accept: 'application/vnd.coreos.ignition+json;version=4.0.0' },
      {},
      { status: 401 },
    ],
    ['for health needs no token', { url: '/healthz' }, {}, { to: 'health' }],
  ])('%s', (_, asked, changed, expected) => {
    expect(decide({ ...nothing, ...asked }, inputs, { ...rules, ...changed })).toMatchObject(expected);
  });

  it('never shows a token in its refusal', () => {
    const refusal = decide({ ...nothing, authorization: 'Bearer old' }, inputs, rules);
    expect(JSON.stringify(refusal)).not.toContain('old');
  });
});
