import { describe, expect, it } from 'vitest';
import { isIPv6, parseUrl, queryParameter } from './url.ts';

describe('a URL, read like the Go client', () => {
  it.each([
    ['http://example.com/a', 'http'],
    ['HTTPS://example.com', 'https'],
    ['http://user:p%40ss@example.com:8080/a?b#c', 'http'],
    ['http://[::1]:80/', 'http'],
    ['http://[fe80::1%25en0]/', 'http'],
    ['http://[::ffff:1.2.3.4]/', 'http'],
    ['http://ünï.example/', 'http'],
    ['http://a::b:1/', 'http'],
    ['http://host/%e2%82%ac', 'http'],
    ['http://%e2%82%ac/', 'http'],
    ['s3://bucket/key?versionId=%zz', 's3'],
    ['arn:aws:s3:::b/k', 'arn'],
    ['mailto:a%zz', 'mailto'],
    ['', ''],
    ['*', ''],
    ['/a/b', ''],
    ['//host/a', ''],
    ['///a', ''],
    ['a/b:c', ''],
    ['1http://x', null],
    [':', null],
    ['a_b:c', null],
    ['http://a b/', null],
    ['http://a\u0000/', null],
    ['http://a\u007f', null],
    ['http://a/%', null],
    ['http://a/#%g0', null],
    ['http://a%20b/', null],
    ['http://a%zz/', null],
    ['http://host:port/', null],
    ['http://[::1', null],
    ['http://a[::1]/', null],
    ['http://[1.2.3.4]/', null],
    ['http://[::1%25]/', null],
    ['http://[fe80::1%25%0a]/', null],
    ['http://us er@host/', null],
    ['http://us%er@host/', null],
    ['http://host\\/', null],
  ])('%j has scheme %j', (text, scheme) => {
    expect(parseUrl(text)?.scheme ?? null).toBe(scheme);
  });
});

it.each([
  ['::', true],
  ['::1', true],
  ['1::', true],
  ['1:2:3:4:5:6:7:8', true],
  ['1:2:3:4:5:6:1.2.3.4', true],
  ['::1.2.3.4', true],
  ['1:2:3:4:5:6:7::', true],
  ['1:2:3:4:5:6:7:8::', false],
  ['1:2:3', false],
  ['1:2:3:4:5:6:7:8:9', false],
  ['12345::', false],
  ['1::2::3', false],
  [':::', false],
  [':1', false],
  ['1:', false],
  ['::01.2.3.4', false],
  ['::1.2.3.256', false],
  ['1.2.3.4::', false],
  ['1.2.3.4', false],
  ['g::', false],
])('%s is an IPv6 address: %s', (text, valid) => {
  expect(isIPv6(text)).toBe(valid);
});

it.each([
  ['versionId=a', 'a'],
  ['a=b&versionId=', ''],
  ['versionId', ''],
  ['version%49d=x', 'x'],
  ['versionId=%zz', undefined],
  ['versionId=a;b', undefined],
  ['versionId=%zz&versionId=b', 'b'],
  ['', undefined],
])('versionId in the query %j is %j', (query, value) => {
  expect(queryParameter(query, 'versionId')).toBe(value);
});
