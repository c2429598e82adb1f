import { describe, expect, it } from 'vitest';
import { type RequestHead, checkToken, decide, parseAccept, parseRoute, type Rules } from './decide.ts';

const nothing: RequestHead = { method: 'GET', url: '/config/worker', headers: {} };
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
    ['gone', [token('gone', '2026-01-03T00:00:00Z')]],
  ]),
};
const VALID = 'Bearer new';

describe('a request', () => {
  it.each<[string, Partial<RequestHead>, Partial<Rules>, object]>([
    [
      'with a valid token is answered',
      { headers: { authorization: VALID } },
      {},
      { to: 'config', pool: 'worker', access: 'token', version: '2.2.0', form: 'plain' },
    ],
    [
      'for a pool without a config is looked up too',
      { url: '/config/infra', headers: { authorization: 'Bearer infra' } },
      {},
      { to: 'config', pool: 'infra' },
    ],
    [
      'without a token is refused',
      {},
      {},
      { status: 401, code: 'SLW_SERVER_TOKEN', headers: { 'www-authenticate': 'Bearer' } },
    ],
    ['with the token of another pool is refused', { headers: { authorization: 'Bearer infra' } }, {}, { status: 401 }],
    [
      'with an expired token is refused',
      { headers: { authorization: 'Bearer old' } },
      {},
      { status: 401, message: expect.stringContaining('has an expired one') },
    ],
    [
      'with an expired token is refused though we may be behind',
      { headers: { authorization: 'Bearer old' } },
      { behind: true },
      { status: 401 },
    ],
    [
      'with a token we may not know yet comes back',
      { headers: { authorization: 'Bearer newer' } },
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
      { headers: { authorization: 'Bearer old' } },
      { allowAnonymous: true },
      { to: 'config', access: 'anonymous' },
    ],
    [
      'for an unknown pool is refused',
      { url: '/config/none' },
      { allowAnonymous: true },
      { status: 404, code: 'SLW_SERVER_POOL' },
    ],
    [
      'for a pool we may not know yet comes back',
      { url: '/config/none' },
      { behind: true, allowAnonymous: true },
      { status: 503 },
    ],
    [
      'for a pool that was deleted, with its token, is refused',
      { url: '/config/gone', headers: { authorization: 'Bearer gone' } },
      {},
      { status: 404, code: 'SLW_SERVER_POOL' },
    ],
    ['for another path is refused', { url: '/' }, {}, { status: 404, code: 'SLW_SERVER_PATH' }],
    [
      'with another method is refused',
      { method: 'POST', headers: { authorization: VALID } },
      {},
      { status: 405, headers: { allow: 'GET, HEAD' } },
    ],
    ['with a body is refused', { headers: { authorization: VALID, 'content-length': '1' } }, {}, { status: 413 }],
    [
      'with a body of unknown length is refused',
      { headers: { authorization: VALID, 'transfer-encoding': 'chunked' } },
      {},
      { status: 413 },
    ],
    [
      'with an empty body is answered',
      { headers: { authorization: VALID, 'content-length': '0' } },
      {},
      { to: 'config' },
    ],
    [
      'for a version we do not serve is refused',
      { headers: { authorization: VALID, accept: 'application/vnd.coreos.ignition+json;version=4.0.0' } },
      {},
      { status: 400, code: 'SLW_SERVER_VERSION' },
    ],
    [
      'for a version says nothing to who has no token',
      { headers: { accept: 'application/vnd.coreos.ignition+json;version=4.0.0' } },
      {},
      { status: 401 },
    ],
    ['for health needs no token', { url: '/healthz' }, {}, { to: 'health' }],
  ])('%s', (_, asked, changed, expected) => {
    expect(decide({ ...nothing, ...asked }, inputs, { ...rules, ...changed })).toMatchObject(expected);
  });

  it.each([
    ['no token', undefined],
    ['something else than a token', 'Basic bmV3'],
    ['an unknown token', 'Bearer newer'],
    ['the token of another pool', 'Bearer infra'],
  ])('with %s does not learn whether a pool exists', (_, authorization) => {
    for (const behind of [false, true]) {
      const ask = (pool: string): string =>
        JSON.stringify(
          decide({ ...nothing, url: `/config/${pool}`, headers: { authorization } }, inputs, { ...rules, behind }),
        );
      expect(ask('none')).toBe(ask('worker').replaceAll('worker', 'none'));
    }
  });

  it('never shows a token in its refusal', () => {
    const refusal = decide({ ...nothing, headers: { authorization: 'Bearer old' } }, inputs, rules);
    expect(JSON.stringify(refusal)).not.toContain('old');
  });
});

const config = (pool: string, form = 'plain') => ({ to: 'config', pool, form });

describe('where a request leads', () => {
  it.each([
    ['GET', '/config/worker', config('worker')],
    ['HEAD', '/config/worker', config('worker')],
    ['GET', '/config/gpu-2.rack', config('gpu-2.rack')],
    ['GET', '/config/worker?compression=gzip', config('worker', 'gzip')],
    ['GET', '/config/worker?a=1&compression=gzip', config('worker', 'gzip')],
    ['GET', '/config/worker?compression=br', config('worker')],
    ['GET', '/config/worker?nocompression=gzip', config('worker')],
    ['GET', '/healthz', { to: 'health' }],
    ['HEAD', '/healthz?a', { to: 'health' }],
    ['POST', '/config/worker', { to: 'method' }],
    ['OPTIONS', '/healthz', { to: 'method' }],
    ['POST', '/', { to: 'nothing' }],
    ['GET', '/', { to: 'nothing' }],
    ['GET', '/config/', { to: 'nothing' }],
    ['GET', '/config/worker/', { to: 'nothing' }],
    ['GET', '/config/../worker', { to: 'nothing' }],
    ['GET', '/config/%77orker', { to: 'nothing' }],
    ['GET', '/config/Worker', { to: 'nothing' }],
    ['GET', `/config/${'a'.repeat(254)}`, { to: 'nothing' }],
    ['GET', '//config/worker', { to: 'nothing' }],
    ['GET', 'https://example.com/config/worker', { to: 'nothing' }],
    ['GET', undefined, { to: 'nothing' }],
    [undefined, '/healthz', { to: 'method' }],
  ])('%s %s', (method, url, route) => {
    expect(parseRoute(method, url)).toEqual(route);
  });
});

const { now } = rules;
const tokens = [token('newest', '2026-01-03T00:00:00Z'), token('older', '2026-01-02T00:00:01Z')];

describe('a provisioning token', () => {
  it.each([
    ['the newest one', 'Bearer newest', 'valid'],
    ['the one before, while it lasts', 'Bearer older', 'valid'],
    ['with a scheme in another case', 'bearer newest', 'valid'],
    ['with two blanks', 'Bearer  newest', 'valid'],
    ['another one', 'Bearer other', 'unknown'],
    ['a beginning of it', 'Bearer newes', 'unknown'],
    ['nothing', undefined, 'missing'],
    ['an empty header', '', 'missing'],
    ['only the scheme', 'Bearer ', 'missing'],
    ['another scheme', 'Basic newest', 'missing'],
    ['one of absurd length', `Bearer ${'x'.repeat(513)}`, 'missing'],
  ])('is judged when it is %s', (_, header, verdict) => {
    expect(checkToken(header, tokens, now)).toBe(verdict);
  });

  it('is invalid from the moment it expires', () => {
    expect(checkToken('Bearer older', tokens, now + 999)).toBe('valid');
    expect(checkToken('Bearer older', tokens, now + 1000)).toBe('expired');
  });

  it('is unknown if the pool has none', () => {
    expect(checkToken('Bearer newest', [], now)).toBe('unknown');
  });

  it('is valid if it is duplicated and one copy has not expired', () => {
    const twice = [token('a', '2026-01-01T00:00:00Z'), token('a', '2026-01-03T00:00:00Z')];
    expect(checkToken('Bearer a', twice, now)).toBe('valid');
  });
});

const TYPE = 'application/vnd.coreos.ignition+json';

describe('the spec version that a client requests', () => {
  it.each([
    ['Ignition 2.14', `${TYPE};version=3.3.0, */*;q=0.1`, '3.3.0'],
    ['Ignition 2.24', `${TYPE};version=3.5.0, */*;q=0.1`, '3.5.0'],
    ['Ignition 2.27', `${TYPE};version=3.6.0, */*;q=0.1`, '3.6.0'],
    ['no header', undefined, '2.2.0'],
    ['an empty header', '', '2.2.0'],
    ['curl', '*/*', '2.2.0'],
    ['a browser', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', '2.2.0'],
    [
      'Ignition 0.x',
      `${TYPE}; version=2.4.0, application/vnd.coreos.ignition+json; version=1; q=0.5, */*; q=0.1`,
      '2.4.0',
    ],
    ['the type without a version', TYPE, '2.2.0'],
    ['a quoted version', `${TYPE};version="3.1.0"`, '3.1.0'],
    ['another case', `${TYPE.toUpperCase()};Version=3.1.0`, '3.1.0'],
    ['two, the newer first', `${TYPE};version=3.4.0, ${TYPE};version=3.2.0`, '3.4.0'],
    ['two, the newer last', `${TYPE};version=3.2.0, ${TYPE};version=3.4.0`, '3.4.0'],
    ['two, the older preferred', `${TYPE};version=3.4.0;q=0.5, ${TYPE};version=3.2.0;q=0.9`, '3.2.0'],
    ['one that is not wanted', `${TYPE};version=3.4.0;q=0, ${TYPE};version=3.2.0`, '3.2.0'],
    ['one of two unknown', `${TYPE};version=9.0.0, ${TYPE};version=3.2.0;q=0.2`, '3.2.0'],
    ['newer than we know', `${TYPE};version=3.9.0`, '3.6.0'],
    ['newer than the last of spec 2', `${TYPE};version=2.9.0`, '2.4.0'],
    ['a patch release', `${TYPE};version=3.4.7`, '3.4.0'],
    ['a pre-release', `${TYPE};version=3.5.0-experimental`, '3.4.0'],
  ])('%s', (_, header, version) => {
    expect(parseAccept(header)).toEqual({ ok: true, version });
  });

  it.each(['2.1.0', '1.0.0', '4.0.0', '3', 'x', '3.0.0-experimental', ''])(
    'is refused with the versions we serve when it is %j',
    (version) => {
      expect(parseAccept(`${TYPE};version=${version}, */*;q=0.1`)).toMatchObject({
        ok: false,
        message: expect.stringMatching(/Supported versions: 2\.2\.0, .*, 3\.6\.0$/),
      });
    },
  );

  it('reads no more of a hostile header than a client would send', () => {
    const header = `${'a/b,'.repeat(16)}${TYPE};version=3.5.0`;
    expect(parseAccept(header)).toEqual({ ok: true, version: '2.2.0' });
  });
});
