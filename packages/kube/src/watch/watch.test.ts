import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Transport } from '../client/transport.ts';
import { cut } from '../testing/chunks.ts';
import { createLineSplitter, watchOnce } from './watch.ts';

function split(chunks: readonly Buffer[], longest?: number): { lines: string[]; pending: number } {
  const lines: string[] = [];
  const splitter = createLineSplitter((line) => lines.push(line), longest);
  for (const chunk of chunks) splitter.push(chunk);
  return { lines, pending: splitter.pending };
}

const text = fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', ' '));

describe('lines', () => {
  it('are the same however the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(text), text, fc.array(fc.nat()), (whole, tail, cuts) => {
        const bytes = Buffer.from(whole.map((line) => `${line}\n`).join('') + tail);
        const { lines, pending } = split(cut(bytes, cuts));
        expect(lines).toEqual(whole.filter((line) => line !== ''));
        expect(pending).toBe(Buffer.byteLength(tail));
      }),
    );
  });

  it('are complete even if every byte arrives alone', () => {
    const bytes = Buffer.from('{"a":"ü𝄞"}\n\n{"b":1}\n');
    expect(split([...bytes].map((byte) => Buffer.from([byte]))).lines).toEqual(['{"a":"ü𝄞"}', '{"b":1}']);
  });

  it('that never end are refused at the limit', () => {
    const endless = [Buffer.alloc(60, 'x'), Buffer.alloc(60, 'x')];
    expect(() => split(endless, 100)).toThrow('received a line longer than 100 bytes from a watch');
    expect(split([...endless, Buffer.from('\n')], 120).lines).toEqual(['x'.repeat(120)]);
  });
});

describe('a watch that the server ends', () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each<[string, number, object]>([
    ['after the time that it was opened for has expired', 300_000, { type: 'expired' }],
    ['a moment before, because the server counts from the request, has expired', 298_500, { type: 'expired' }],
    ['in the middle has ended early', 150_000, { type: 'early', openMs: 150_000 }],
    ['at once has ended early', 0, { type: 'early', openMs: 0 }],
  ])('%s', async (_, openMs, expected) => {
    // The shortest lifetime: 300 seconds.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let now = 5000;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const asked: unknown[] = [];
    const transport: Transport = {
      server: 'memory',
      json: () => Promise.reject(new Error('nothing is read')),
      async open({ query }) {
        asked.push(query?.['timeoutSeconds']);
        const body = (async function* () {
          now += openMs;
          yield Buffer.from('\n');
        })();
        return Object.assign(body, { destroy: () => {} });
      },
      close: () => Promise.resolve(),
    };
    const start = { from: '1', signal: new AbortController().signal };
    const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: false };
    expect(await watchOnce(transport, { resource }, start, () => {})).toEqual(expected);
    expect(asked).toEqual(['300']);
  });
});
