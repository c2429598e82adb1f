import { describe, expect, it } from 'vitest';
import { classifyFailure, type FailureKind, listCauses, systemCode, systemCodes } from './failure.ts';

const withCode = (code: string): Error => Object.assign(new Error(code), { code });

describe('the code of an error', () => {
  it.each<[string, unknown, string]>([
    ['its own', withCode('ECONNRESET'), 'ECONNRESET'],
    ['its cause’s', new Error('x', { cause: new Error('y', { cause: withCode('EPIPE') }) }), 'EPIPE'],
    ['the first of several attempts’', new AggregateError([withCode('ECONNREFUSED'), withCode('x')]), 'ECONNREFUSED'],
    ['a time limit', new DOMException('late', 'TimeoutError'), 'TimeoutError'],
    ['none', new Error('x'), ''],
    ['none, if the thrown value is not an error', 'x', ''],
  ])('%s', (_, error, expected) => expect(systemCode(error)).toBe(expected));

  it('is followed by those of its causes', () => {
    const attempts = new AggregateError([withCode('ECONNREFUSED'), withCode('EHOSTUNREACH')]);
    const error = Object.assign(withCode('UND_ERR_SOCKET'), { cause: attempts });
    expect(systemCodes(error)).toEqual(['UND_ERR_SOCKET', 'ECONNREFUSED', 'EHOSTUNREACH']);
  });

  it('is searched only a few causes deep', () => {
    const endless = new Error('x');
    endless.cause = endless;
    expect(systemCode(endless)).toBe('');
    expect(listCauses(endless)).toHaveLength(10);
  });
});

describe('the kind of a failure', () => {
  it.each<[FailureKind, string[]]>([
    ['unreachable', ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'UND_ERR_CONNECT_TIMEOUT']],
    ['timeout', ['ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']],
    ['closed', ['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE']],
    [
      'untrusted',
      [
        'CERT_HAS_EXPIRED',
        'DEPTH_ZERO_SELF_SIGNED_CERT',
        'ERR_TLS_CERT_ALTNAME_INVALID',
        'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      ],
    ],
    ['tls', ['ERR_SSL_WRONG_VERSION_NUMBER', 'EPROTO']],
    ['large-headers', ['UND_ERR_HEADERS_OVERFLOW']],
    ['unknown', ['UND_ERR_INVALID_ARG', 'EACCES']],
  ])('%s', (kind, codes) => {
    expect(codes.map((code) => classifyFailure(withCode(code)))).toEqual(codes.map((code) => ({ kind, code })));
  });

  it.each<[string, unknown, { kind: FailureKind; code: string }]>([
    ['a timeout', new DOMException('late', 'TimeoutError'), { kind: 'timeout', code: 'TimeoutError' }],
    [
      'no HTTP',
      Object.assign(withCode('HPE_INVALID_CONSTANT'), { name: 'HTTPParserError' }),
      { kind: 'not-http', code: 'HPE_INVALID_CONSTANT' },
    ],
    ['no reason', new Error('x'), { kind: 'unknown', code: '' }],
    ['no error', undefined, { kind: 'unknown', code: '' }],
  ])('%s', (_, error, expected) => expect(classifyFailure(error)).toEqual(expected));
});
