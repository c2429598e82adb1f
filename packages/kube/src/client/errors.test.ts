import { describe, expect, it } from 'vitest';
import { toKubeError, type KubeErrorCode, lostRequestError, type Status } from './errors.ts';

interface Row {
  status: number;
  body?: Status;
  read: KubeErrorCode;
  /** If it differs from a read. */
  write?: KubeErrorCode;
}

const rows: [string, Row][] = [
  ['a redirect: no API server redirects', { status: 302, read: 'SLW_KUBE_BAD_ANSWER' }],
  ['a malformed request', { status: 400, read: 'SLW_KUBE_INVALID' }],
  ['credentials that are not accepted', { status: 401, read: 'SLW_KUBE_UNAUTHORIZED' }],
  ['a refusal by RBAC', { status: 403, read: 'SLW_KUBE_FORBIDDEN' }],
  ['an object that is not there', { status: 404, body: { details: { name: 'worker-1' } }, read: 'SLW_KUBE_NOT_FOUND' }],
  ['a kind that is not there', { status: 404, body: { details: {} }, read: 'SLW_KUBE_KIND_NOT_INSTALLED' }],
  ['a group that is not there (no Status)', { status: 404, read: 'SLW_KUBE_KIND_NOT_INSTALLED' }],
  ['a verb the kind does not have', { status: 405, read: 'SLW_KUBE_INVALID' }],
  ['a form the server cannot send', { status: 406, read: 'SLW_KUBE_BAD_ANSWER' }],
  ['a request that came in too slowly', { status: 408, read: 'SLW_KUBE_INVALID' }],
  ['a name that is taken', { status: 409, body: { reason: 'AlreadyExists' }, read: 'SLW_KUBE_ALREADY_EXISTS' }],
  ['a version that has passed', { status: 409, body: { reason: 'Conflict' }, read: 'SLW_KUBE_CONFLICT' }],
  ['history that is gone', { status: 410, body: { reason: 'Expired' }, read: 'SLW_KUBE_GONE' }],
  ['an object too large', { status: 413, read: 'SLW_KUBE_INVALID' }],
  ['a patch of unknown type', { status: 415, read: 'SLW_KUBE_INVALID' }],
  ['an object against its schema', { status: 422, body: { reason: 'Invalid' }, read: 'SLW_KUBE_INVALID' }],
  [
    'another UID than the object has',
    { status: 422, body: { details: { causes: [{ field: 'metadata.uid' }] } }, read: 'SLW_KUBE_CONFLICT' },
  ],
  ['an overload', { status: 429, body: { reason: 'TooManyRequests' }, read: 'SLW_KUBE_THROTTLED' }],
  ['a header too long: any other 4xx is a refusal, nothing was done', { status: 431, read: 'SLW_KUBE_INVALID' }],
  [
    'a PodDisruptionBudget',
    { status: 429, body: { details: { causes: [{ reason: 'DisruptionBudget' }] } }, read: 'SLW_KUBE_BLOCKED' },
  ],
  ['a bug in the server', { status: 500, read: 'SLW_KUBE_SERVER', write: 'SLW_KUBE_OUTCOME_UNKNOWN' }],
  ['a proxy that lost the server', { status: 502, read: 'SLW_KUBE_SERVER', write: 'SLW_KUBE_OUTCOME_UNKNOWN' }],
  [
    'a server not ready yet, by its own word',
    { status: 503, body: { reason: 'ServiceUnavailable' }, read: 'SLW_KUBE_SERVER' },
  ],
  [
    'a 503 of some proxy, which may have lost the answer',
    { status: 503, read: 'SLW_KUBE_SERVER', write: 'SLW_KUBE_OUTCOME_UNKNOWN' },
  ],
  ['a timeout behind the server', { status: 504, read: 'SLW_KUBE_SERVER', write: 'SLW_KUBE_OUTCOME_UNKNOWN' }],
  [
    'a version that the server has never had (etcd was restored)',
    { status: 504, body: { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }, read: 'SLW_KUBE_GONE' },
  ],
];

describe('the error for a response of the API server', () => {
  it.each(rows)('%s', (_, { status, body, read, write = read }) => {
    const answer = { status, body, retryAfter: undefined, what: 'get Node worker-1' };
    expect(toKubeError({ ...answer, write: false }).code).toBe(read);
    expect(toKubeError({ ...answer, write: true }).code).toBe(write);
  });

  it('names the request and the server’s message', () => {
    const body = { reason: 'Forbidden', message: 'nodes "a" is forbidden' };
    const error = toKubeError({ status: 403, body, retryAfter: undefined, what: 'get Node a', write: false });
    expect(error).toMatchObject({ message: 'get Node a: nodes "a" is forbidden', status: 403, reason: 'Forbidden' });
  });

  it('includes what to do, if known', () => {
    const error = toKubeError({ status: 404, body: undefined, retryAfter: undefined, what: 'list x', write: false });
    expect(error.message).toBe(
      'list x: the API server does not serve this kind. Install the CRDs first: slipway install (server message: HTTP 404)',
    );
  });

  it.each<[string, string | undefined, number | undefined, number | undefined]>([
    ['the header, in seconds', '7', undefined, 7000],
    ['the Status, where there is no header', undefined, 3, 3000],
    ['the header before the Status', '2', 3, 2000],
    ['the header, where it is a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT', 3, 0],
    ['the Status, where the header says nothing', 'soon', 3, 3000],
    ['as sent, also for minutes', '300', undefined, 300_000],
    ['nothing', undefined, undefined, undefined],
    ['never more than ten minutes', '86400', undefined, 600_000],
    ['nothing, where the header is negative', '-1', undefined, undefined],
    ['at once', '0', undefined, 0],
  ])('how long to wait: %s', (_, retryAfter, retryAfterSeconds, expected) => {
    const body = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
    expect(toKubeError({ status: 429, body, retryAfter, what: 'x', write: false }).retryAfterMs).toBe(expected);
  });
});

const withCode = (code: string, message = code): Error => Object.assign(new Error(message), { code });

describe('a request without a response', () => {
  const lost = (code: string, write: boolean, sent: boolean): KubeErrorCode =>
    lostRequestError(withCode(code), { what: 'get Node a', server: 'https://s:6443', write, sent }).code;

  it.each<[string, KubeErrorCode, KubeErrorCode, KubeErrorCode]>([
    // code, nothing was sent, a read was sent, a write was sent
    ['ECONNREFUSED', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['ENOTFOUND', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['EHOSTUNREACH', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['UND_ERR_CONNECT_TIMEOUT', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['ETIMEDOUT', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_TIMEOUT', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['UND_ERR_HEADERS_TIMEOUT', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_TIMEOUT', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['UND_ERR_BODY_TIMEOUT', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_TIMEOUT', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['ECONNRESET', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['UND_ERR_SOCKET', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['EPIPE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['CERT_HAS_EXPIRED', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
    ['EPROTO', 'SLW_KUBE_TLS', 'SLW_KUBE_UNREACHABLE', 'SLW_KUBE_OUTCOME_UNKNOWN'],
  ])('%s', (code, unsent, read, write) => {
    expect([lost(code, true, false), lost(code, false, true), lost(code, true, true)]).toEqual([unsent, read, write]);
    expect(lost(code, false, false)).toBe(unsent);
  });

  it('names the server and what to check, in one line', () => {
    const request = { what: 'get Node a', server: 'https://s:6443', write: false, sent: false };
    expect(lostRequestError(withCode('ECONNREFUSED'), request).message).toBe(
      'get Node a: no connection to https://s:6443 (ECONNREFUSED). Check that the API server is running and that the address in the kubeconfig is correct',
    );
    expect(lostRequestError(new Error('odd'), { ...request, sent: true }).message).toBe(
      'get Node a: the connection to https://s:6443 broke (Error: odd)',
    );
  });
});
