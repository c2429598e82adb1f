import { decodeDataUrl, parse, validate } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { stubOf } from './stub.ts';

const caBundle = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n'.repeat(2);
const request = { server: 'https://api-int.example.com:22623', pool: 'worker', caBundle };

describe('a stub', () => {
  it.each([
    ['with a token', { ...request, token: 'abc-_123' }],
    ['without a token', request],
    ['for a server with an IPv6 address', { ...request, server: 'https://[fd00::5]:22623/' }],
  ])('%s is a config that Ignition takes without a word', (_, each) => {
    const parsed = parse(JSON.stringify(stubOf(each)));
    expect(parsed.report).toEqual([]);
    expect(parsed.config !== null && validate(parsed.config)).toEqual([]);
  });

  it('asks for the gzip form of its pool, with the token in a header', () => {
    expect(stubOf({ ...request, token: 'abc' }).ignition.config?.merge).toEqual([
      {
        source: 'https://api-int.example.com:22623/config/worker?compression=gzip',
        compression: 'gzip',
        httpHeaders: [{ name: 'Authorization', value: 'Bearer abc' }],
      },
    ]);
  });

  it('has no header where machines need no token', () => {
    expect(JSON.stringify(stubOf(request))).not.toContain('Authorization');
  });

  it('carries the whole CA bundle, byte for byte', () => {
    const [authority] = stubOf(request).ignition.security?.tls?.certificateAuthorities ?? [];
    const decoded = decodeDataUrl(authority?.source ?? '');
    expect(decoded.ok && new TextDecoder().decode(decoded.bytes)).toBe(caBundle);
  });
});
