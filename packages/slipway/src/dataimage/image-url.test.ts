import { describe, expect, it } from 'vitest';
import { checkImageUrl } from './image-url.ts';

describe('the URL of an ISO', () => {
  it.each(['http://10.0.0.5/a.iso', 'https://isos.example.com:8443/a.iso?version=2', 'http://[fd00::5]/a.iso'])(
    '%s can be attached',
    (text) => {
      expect(checkImageUrl(text).href).toBe(text);
    },
  );

  it.each([
    ['another scheme', 'ftp://10.0.0.5/a.iso', 'found "ftp://10.0.0.5/a.iso"'],
    ['a file', 'file:///a.iso', 'expected http://HOST/PATH'],
    ['no scheme', '10.0.0.5/a.iso', 'expected http://HOST/PATH'],
    ['no host', 'http://', 'expected http://HOST/PATH'],
    ['a letter outside of ASCII', 'http://10.0.0.5/ä.iso', 'percent-encoded'],
    ['a space', 'http://10.0.0.5/a b.iso', 'expected http://HOST/PATH'],
    ['one that is too long', `http://10.0.0.5/${'a'.repeat(2048)}`, 'at most 2048 characters, found 2064'],
    ['a password', 'http://me:hunter2@10.0.0.5/a.iso', 'expected no user name or password'],
    ['a password in a scheme that is refused', 'ftp://me:hunter2@10.0.0.5/a.iso', 'found "ftp://…@10.0.0.5/a.iso"'],
  ])('%s is refused, without a word of what is secret', (_, text, said) => {
    const refused = (): unknown => checkImageUrl(text);
    expect(refused).toThrow(
      expect.objectContaining({ code: 'SLW_CLI_DATA_IMAGE', message: expect.stringContaining(said) }),
    );
    expect(refused).not.toThrow(/hunter2/);
  });
});
