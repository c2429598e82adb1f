import { describe, expect, it } from 'vitest';
import { parseAccept } from './decide.ts';

const type = 'application/vnd.coreos.ignition+json';

describe('the spec version a client asks for', () => {
  it.each([
    ['Ignition 2.14', `${type};version=3.3.0, */*;q=0.1`, '3.3.0'],
    ['Ignition 2.24', `${type};version=3.5.0, */*;q=0.1`, '3.5.0'],
    ['Ignition 2.27', `${type};version=3.6.0, */*;q=0.1`, '3.6.0'],
    ['no header', undefined, '2.2.0'],
    ['an empty header', '', '2.2.0'],
    ['curl', '*/*', '2.2.0'],
    ['a browser', 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8', '2.2.0'],
    [
      'Ignition 0.x',
      `${type}; version=2.4.0, application/vnd.coreos.ignition+json; version=1; q=0.5, */*; q=0.1`,
      '2.4.0',
    ],
    ['the type without a version', type, '2.2.0'],
    ['a quoted version', `${type};version="3.1.0"`, '3.1.0'],
    ['another case', `${type.toUpperCase()};Version=3.1.0`, '3.1.0'],
    ['two, the newer first', `${type};version=3.4.0, ${type};version=3.2.0`, '3.4.0'],
    ['two, the newer last', `${type};version=3.2.0, ${type};version=3.4.0`, '3.4.0'],
    ['two, the older preferred', `${type};version=3.4.0;q=0.5, ${type};version=3.2.0;q=0.9`, '3.2.0'],
    ['one that is not wanted', `${type};version=3.4.0;q=0, ${type};version=3.2.0`, '3.2.0'],
    ['one of two unknown', `${type};version=9.0.0, ${type};version=3.2.0;q=0.2`, '3.2.0'],
    ['newer than we know', `${type};version=3.9.0`, '3.6.0'],
    ['newer than the last of spec 2', `${type};version=2.9.0`, '2.4.0'],
    ['a patch release', `${type};version=3.4.7`, '3.4.0'],
    ['a pre-release', `${type};version=3.5.0-experimental`, '3.4.0'],
  ])('%s', (_, header, version) => {
    expect(parseAccept(header)).toEqual({ ok: true, version });
  });

  it.each(['2.1.0', '1.0.0', '4.0.0', '3', 'x', '3.0.0-experimental', ''])(
    'is refused with the versions we serve when it is %j',
    (version) => {
      expect(parseAccept(`${type};version=${version}, */*;q=0.1`)).toMatchObject({
        ok: false,
        message: expect.stringMatching(/served are 2\.2\.0, .*, 3\.6\.0$/),
      });
    },
  );

  it('reads no more of a hostile header than a client would send', () => {
    const header = `${'a/b,'.repeat(16)}${type};version=3.5.0`;
    expect(parseAccept(header)).toEqual({ ok: true, version: '2.2.0' });
  });
});
