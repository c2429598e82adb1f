import { describe, expect, it } from 'vitest';
import { proxyFor } from './proxy.ts';

const HTTP = 'http://proxy.example.com:3128';
const HTTPS = 'https://secure-proxy.example.com:3128';

// The verdicts of golang.org/x/net/http/httpproxy.
describe('the proxy for a URL', () => {
  it.each([
    ['http://files.example.com/', HTTP],
    ['https://files.example.com/', HTTPS],
    ['http://localhost/', null],
    ['http://127.0.0.1:8080/', null],
    ['http://127.9.9.9/', null],
    ['http://[::1]/', null],
    ['http://10.0.0.1/', HTTP],
  ])('%s is %s', (url, expected) => {
    expect(proxyFor(new URL(url), { httpProxy: HTTP, httpsProxy: HTTPS })).toBe(expected);
  });

  it.each([
    ['http://files.example.com/', ['example.com'], null],
    ['http://example.com/', ['example.com'], null],
    ['http://EXAMPLE.com./', ['Example.com'], null],
    ['http://notexample.com/', ['example.com'], HTTP],
    ['http://example.com/', ['.example.com'], HTTP],
    ['http://files.example.com/', ['.example.com'], null],
    ['http://files.example.com/', ['*.example.com'], null],
    ['http://example.com/', ['*.example.com'], HTTP],
    ['http://anything/', ['*'], null],
    ['http://10.1.2.3/', ['10.0.0.0/8'], null],
    ['http://11.1.2.3/', ['10.0.0.0/8'], HTTP],
    ['http://10.1.2.3/', ['10.1.2.3'], null],
    ['http://10.1.2.3:81/', ['10.1.2.3:80'], HTTP],
    ['http://example.com:8080/', ['example.com:8080'], null],
    ['http://example.com/', ['example.com:8080'], HTTP],
    ['http://example.com/', ['example.com:80'], null],
    ['http://[2001:db8::1]/', ['2001:db8::/32'], null],
    ['http://b.test/', ['a.test, b.test'], null],
    ['http://b.test/', ['', 'a.test'], HTTP],
  ])('%s without a proxy for %j is %s', (url, noProxy, expected) => {
    expect(proxyFor(new URL(url), { httpProxy: HTTP, noProxy })).toBe(expected);
  });

  it('is none when the config names none for the scheme', () => {
    expect(proxyFor(new URL('https://example.com/'), { httpProxy: HTTP })).toBeNull();
    expect(proxyFor(new URL('http://example.com/'), { httpProxy: '' })).toBeNull();
  });
});
