import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut } from '../testing/chunks.ts';
import { createLineSplitter } from './watch.ts';

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
