import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAuth, parseEndpoint } from './endpoint.ts';

describe('the address of Ironic', () => {
  it.each([
    ['http://ironic.example:6385', 'http://ironic.example:6385/'],
    ['http://ironic.example:6385/', 'http://ironic.example:6385/'],
    ['http://ironic.example:6385/v1', 'http://ironic.example:6385/'],
    ['https://ironic.example/baremetal/v1/', 'https://ironic.example/baremetal'],
    ['https://[2001:db8::1]:6385/v1/', 'https://[2001:db8::1]:6385/'],
    ['https://ironic.example/v1x', 'https://ironic.example/v1x'],
  ])('%s is %s without its version', (text, expected) => {
    expect(parseEndpoint(text).href).toBe(expected);
  });
});

describe('the credentials', () => {
  it('are one line, whose first colon ends the name', () => {
    expect(parseAuth('admin:a:b c\n')).toEqual({ username: 'admin', password: 'a:b c' });
  });

  it.each([
    ['only a colon', ':'],
    ['nothing', ''],
    ['no colon', 'admin'],
    ['no name', ':x'],
    ['no password', 'admin:'],
    ['two lines', 'a:b\nc:d'],
    ['too long', `a:${'x'.repeat(5000)}`],
  ])('with %s are refused, and not shown', (_, text) => {
    expect(() => parseAuth(text)).toThrow(/expected one line, USERNAME:PASSWORD, found something else$/);
  });

  it('of any name and password without control characters come back as they were written', () => {
    const printable = fc.string({ minLength: 1, maxLength: 50 }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(printable, printable, (name, password) => {
        const username = name.replaceAll(':', '-');
        expect(parseAuth(`${username}:${password}\n`)).toEqual({ username, password });
      }),
    );
  });
});
