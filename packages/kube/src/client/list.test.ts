import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut } from '../testing/chunks.ts';
import { createListItemsReader, findObjectEnd, isInScope, type Scope } from './list.ts';
import type { KubeObject } from './resource.ts';

interface ListResult {
  items: unknown[];
  resourceVersion: string;
  continueToken: string;
}

function read(chunks: readonly Buffer[], batch?: number): ListResult {
  const reader = createListItemsReader('list things', batch);
  const items: unknown[] = chunks.flatMap((chunk) => reader.push(chunk));
  const end = reader.finish();
  return { ...end, items: [...items, ...end.items] };
}

const metadata = { resourceVersion: '4711', continue: 'next', remainingItemCount: 5 };

type Form = (items: readonly unknown[] | null, indent?: number) => string;
const forms: Record<string, Form> = {
  'of a built-in kind, metadata first': (items, indent) =>
    JSON.stringify({ kind: 'ThingList', apiVersion: 'v1', metadata, items }, undefined, indent),
  'of a custom resource, metadata last': (items, indent) =>
    JSON.stringify({ apiVersion: 'a/v1', items, kind: 'ThingList', metadata }, undefined, indent),
};
const form = fc.constantFrom(...Object.values(forms));

/** Text made of the bytes that the reader searches for. */
const nasty = fc
  .array(
    fc.constantFrom('},{"metadata":', '{', '}', '[', ']', '"', '\\', ',', ':', 'ü', '𝄞', '\u2028', '\n', '"items":['),
  )
  .map((parts) => parts.join(''));
const text = fc.oneof(nasty, fc.string({ unit: 'grapheme' }));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.integer(),
    fc.constantFrom(null, true, 1.5e300),
    fc.array(tie('any'), { maxLength: 4 }),
    // Nested objects that look just like items.
    fc.array(fc.record({ metadata: tie('any') }), { maxLength: 3 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  ),
})).any;
const item = fc.oneof(
  { weight: 4, arbitrary: fc.record({ metadata: value, spec: value }, { requiredKeys: ['metadata'] }) },
  // A first key like no other's, and an object without any.
  { weight: 1, arbitrary: fc.dictionary(text, value, { maxKeys: 3 }) },
);
/** As JSON stores it: no -0, no `__proto__`. */
const items = fc.array(item, { maxLength: 8 }).map((list) => JSON.parse(JSON.stringify(list)) as unknown[]);
const indent = fc.constantFrom(undefined, undefined, 2);
/** From every byte to everything at the end. */
const batch = fc.constantFrom(1, 64, 300, 100_000);

describe('the items of a list', () => {
  it('are the same however the bytes are cut, in both forms, pretty-printed or not', () => {
    fc.assert(
      fc.property(form, items, indent, fc.array(fc.nat()), batch, (write, list, spaces, cuts, bytesAtOnce) => {
        const bytes = Buffer.from(write(list, spaces));
        expect(read(cut(bytes, cuts), bytesAtOnce)).toEqual({
          items: list,
          resourceVersion: '4711',
          continueToken: 'next',
        });
      }),
      { numRuns: 1000 },
    );
  });

  it('are never partial: a list that is cut off anywhere is an error', () => {
    fc.assert(
      fc.property(
        form,
        items,
        indent,
        fc.array(fc.nat()),
        batch,
        fc.nat(),
        (write, list, spaces, cuts, bytesAtOnce, at) => {
          const whole = Buffer.from(write(list, spaces));
          const part = whole.subarray(0, at % whole.length);
          expect(() => read(cut(part, cuts), bytesAtOnce)).toThrow(
            expect.objectContaining({ code: 'SLW_KUBE_BAD_ANSWER' }),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  describe.each(Object.entries(forms))('%s', (_, write) => {
    it('may be null', () => {
      expect(read([Buffer.from(write(null))]).items).toEqual([]);
    });

    it('may be none', () => {
      expect(read([Buffer.from(write([]))]).items).toEqual([]);
    });

    it('are returned as they arrive, not at the end', () => {
      const reader = createListItemsReader('list things', 1);
      const whole = Buffer.from(write([{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }]));
      const upToSecond = whole.indexOf('"b"');
      expect(reader.push(whole.subarray(0, upToSecond))).toEqual([{ metadata: { name: 'a' } }]);
    });

    it('that are large are returned complete', () => {
      const big = { metadata: { name: 'a' }, data: 'x'.repeat(3_000_000) };
      const bytes = Buffer.from(write([big, big]));
      const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_each, n) =>
        bytes.subarray(n * 65_536, (n + 1) * 65_536),
      );
      expect(read(chunks).items).toEqual([big, big]);
    });
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['a web page', '<!doctype html><title>Log in</title>'],
    ['another object', '{"kind":"Status","metadata":{},"status":"Success"}'],
    ['an empty object', '{}'],
    ['null', 'null'],
    ['a list without a version', '{"kind":"List","metadata":{},"items":[]}'],
    ['a list with an empty version', '{"metadata":{"resourceVersion":""},"items":null}'],
    ['a list without items', '{"metadata":{"resourceVersion":"1"}}'],
    ['items that are an object', '{"metadata":{"resourceVersion":"1"},"items":{}}'],
    ['items that are text', '{"metadata":{"resourceVersion":"1"},"items":"x"}'],
    ['an item that is null', '{"metadata":{"resourceVersion":"1"},"items":[null]}'],
    ['an item that is text', '{"metadata":{"resourceVersion":"1"},"items":["{}"]}'],
    ['an item that is no JSON', '{"metadata":{"resourceVersion":"1"},"items":[{"a":b}]}'],
    ['bytes behind the list', '{"metadata":{"resourceVersion":"1"},"items":[]}{}'],
    ['a head without end', `{"a":"${'x'.repeat(300_000)}`],
    ['a tail without end', `{"items":[],"a":"${'x'.repeat(300_000)}`],
  ])('%s is an error, not an empty list, which would mean that everything was deleted', (_, answer) => {
    expect(() => read([Buffer.from(answer)])).toThrow(
      expect.objectContaining({ code: 'SLW_KUBE_BAD_ANSWER', message: expect.stringMatching(/^list things: /) }),
    );
  });

  it('that never end are refused at a limit', () => {
    const reader = createListItemsReader('list things');
    reader.push(Buffer.from('{"items":[{"metadata":"'));
    const megabyte = Buffer.alloc(2 ** 20, 'x');
    expect(() => {
      for (let sent = 0; sent < 20; sent += 1) reader.push(megabyte);
    }).toThrow('an item is longer than 16777216 bytes');
  });
});

it('the end of an object is the brace that closes it', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value), text, (object, behind) => {
      const one = Buffer.from(JSON.stringify(object));
      expect(findObjectEnd(Buffer.concat([one, Buffer.from(behind)]), 0)).toBe(one.length);
      expect(findObjectEnd(one.subarray(0, -1), 0)).toBe(-1);
    }),
  );
});

describe('a scope', () => {
  const object = { metadata: { name: 'a', namespace: 'n', labels: { role: 'worker', empty: '' } } };
  const resource = { group: '', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };

  it.each<[Omit<Scope<KubeObject>, 'resource'>, boolean]>([
    [{}, true],
    [{ namespace: 'n' }, true],
    [{ namespace: 'm' }, false],
    [{ fieldSelector: 'metadata.name=a' }, true],
    [{ fieldSelector: 'metadata.name=b' }, false],
    [{ labelSelector: 'role' }, true],
    [{ labelSelector: 'other' }, false],
    [{ labelSelector: '!role' }, false],
    [{ labelSelector: '!other' }, true],
    [{ labelSelector: 'role=worker' }, true],
    [{ labelSelector: 'role==worker,empty=' }, true],
    [{ labelSelector: 'role=master' }, false],
    [{ labelSelector: 'role,!empty' }, false],
    [{ labelSelector: 'role in (worker)' }, false],
    [{ fieldSelector: 'spec.nodeName=x' }, false],
  ])('%j contains an object: %s', (scope, expected) => {
    expect(isInScope({ resource, ...scope }, object)).toBe(expected);
  });
});
