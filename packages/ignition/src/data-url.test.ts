import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataUrlProblem, decodeDataUrl, encodeDataUrl } from './data-url.ts';

const text = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

// Every verdict in these two tables is that of the Go library.
const accepted: [source: string, contents: string][] = [
  ['data:,', ''],
  ['data:,hello%20world', 'hello world'],
  ['data:,a+b', 'a+b'],
  ['data:,a,b;c:d/e?f@g&h=i', 'a,b;c:d/e?f@g&h=i'],
  ['data:;base64,', ''],
  ['data:;base64,aGVsbG8=', 'hello'],
  ['data:;base64,aGVs\nbG8=\n', 'hello'],
  ['data:;base64,aGVsbG9=', 'hello'], // last digit has bits that no byte takes
  ['data:text/plain,x', 'x'],
  ['data:text/,x', 'x'],
  ['data:textual/plain,x', 'x'],
  ['data:x-own/thing,x', 'x'],
  ['data:text/plain;charset=utf-8;base64,eA==', 'x'],
  ['data:;a=b;c=%41,x', 'x'],
  ['data:;a="b c\\n\\u00e9",x', 'x'],
  ['data:;a="";b=%zz,x', 'x'], // after an empty quoted value the next one is not unescaped
];

const refused: [source: string, problem: RegExp][] = [
  ['', /does not start with "data:"/],
  ['DATA:,x', /does not start with "data:"/],
  ['data:', /no ","/],
  ['data:text/plain', /no ","/],
  ['data:font/woff,x', /media type starts with "font"/],
  ['data:Text/plain,x', /media type starts with "Text"/],
  ['data:x,y/z,', /" at 6|","/],
  ['data:;base64;a=b,x', /";"/],
  ['data:;utf8,x', /parameter "utf8" has no value/],
  ['data:;,x', /parameter "" has no value/],
  ['data:;a=,x', /","/],
  ['data:;a=%zz,x', /invalid escape/],
  ['data:;a="\\q",x', /invalid escape/],
  ['data:;a="\\ud800",x', /invalid escape/],
  ['data:;a="b,x', /not closed/],
  ['data:;a="é",x', /"é"/],
  ['data:,a b', /" "/],
  ['data:,a#b', /"#"/],
  ['data:,é', /"é"/],
  ['data:,100%', /"%"/],
  ['data:,%4', /two hex digits/],
  ['data:;base64,aGVsbG8', /multiple of 4/],
  ['data:;base64,aGVs bG8=', /" "/],
  ['data:;base64,aGVs\r\nbG8=', /"\\r"/],
  ['data:;base64,aGVsbG8_', /"_"/],
  ['data:;base64,aG==bG8=', /before the end/],
  ['data:;base64,A===', /before the end/],
];

describe('a data URL', () => {
  it.each(accepted)('%s is read like the real client', (source, contents) => {
    const decoded = decodeDataUrl(source);
    expect(decoded.ok && text(decoded.bytes)).toBe(contents);
    expect(dataUrlProblem(source)).toBeNull();
  });

  it.each(refused)('%s is refused, and the reason is named', (source, problem) => {
    expect(decodeDataUrl(source)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
    expect(dataUrlProblem(source)).toMatch(problem);
  });

  it('returns exactly the bytes that were written', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const decoded = decodeDataUrl(encodeDataUrl(bytes));
        expect(decoded.ok && [...decoded.bytes]).toEqual([...bytes]);
      }),
    );
  });

  it('is never longer than base64, and text that needs few escapes stays readable', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(encodeDataUrl(bytes).length).toBeLessThanOrEqual(`data:;base64,${bytes.toBase64()}`.length);
      }),
    );
    expect(encodeDataUrl(new TextEncoder().encode('server=ntp.example.com,iburst\n'))).toBe(
      'data:,server=ntp.example.com,iburst%0A',
    );
    expect(encodeDataUrl(new Uint8Array(9))).toBe('data:;base64,AAAAAAAAAAAA');
  });

  it('of several megabytes is checked in linear time and without deep recursion', () => {
    const long = `data:,${'%41'.repeat(2_000_000)}`;
    expect(dataUrlProblem(long)).toBeNull();
    expect(dataUrlProblem(`${long} `)).toMatch(/percent-encoded/);
    expect(dataUrlProblem(`data:;a="${'\\\\'.repeat(2_000_000)}",`)).toBeNull();
  });
});
