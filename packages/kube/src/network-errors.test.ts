import { describe, expect, it } from 'vitest';
import type { KubeErrorCode } from './errors.ts';
import { lostRequestError, systemCode } from './network-errors.ts';

const withCode = (code: string, message = code): Error => Object.assign(new Error(message), { code });

describe('the code of an error', () => {
  it.each<[string, unknown, string]>([
    ['its own', withCode('ECONNRESET'), 'ECONNRESET'],
    ['its cause’s', new Error('x', { cause: new Error('y', { cause: withCode('EPIPE') }) }), 'EPIPE'],
    ['the first of several attempts’', new AggregateError([withCode('ECONNREFUSED'), withCode('x')]), 'ECONNREFUSED'],
    ['a time limit', new DOMException('late', 'TimeoutError'), 'TimeoutError'],
    ['none', new Error('x'), ''],
    ['none, where something else was thrown', 'x', ''],
  ])('%s', (_, error, expected) => expect(systemCode(error)).toBe(expected));

  it('is looked for a few causes deep, not for ever', () => {
    const endless = new Error('x');
    endless.cause = endless;
    expect(systemCode(endless)).toBe('');
  });
});

describe('a request without an answer', () => {
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

  it('names the server and what to look at, in one line', () => {
    const request = { what: 'get Node a', server: 'https://s:6443', write: false, sent: false };
    expect(lostRequestError(withCode('ECONNREFUSED'), request).message).toBe(
      'get Node a: no connection to https://s:6443 (ECONNREFUSED). Check that the API server runs and that the address in the kubeconfig is right',
    );
    expect(lostRequestError(new Error('odd'), { ...request, sent: true }).message).toBe(
      'get Node a: the connection to https://s:6443 broke (Error: odd)',
    );
  });
});
