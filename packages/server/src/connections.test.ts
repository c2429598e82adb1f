import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientOfAddress, createConnectionTable } from './connections.ts';

const limits = { connections: 4, fullIdleMs: 5000 };

describe('a new connection', () => {
  it('is accepted while there is space, however many its client has', () => {
    const table = createConnectionTable(limits);
    for (const id of ['1', '2', '3', '4']) expect(table.open(id, 'rack', 0)).toEqual({ do: 'accept' });
    expect(table.size).toBe(4);
  });

  it('replaces the oldest idle connection of the client with the most', () => {
    const table = createConnectionTable(limits);
    table.open('b1', 'b', 0);
    for (const id of ['a1', 'a2', 'a3']) table.open(id, 'a', 1);
    expect(table.open('c1', 'c', 2)).toEqual({ do: 'evict', id: 'a1', client: 'a' });
    expect(table.size).toBe(4);
    // Now a has 2, b 1, c 1: there is nothing to gain for another client.
    expect(table.open('d1', 'd', 2)).toEqual({ do: 'evict', id: 'a2', client: 'a' });
    expect(table.open('e1', 'e', 2)).toEqual({ do: 'refuse' });
  });

  it('of the client with the most is refused, until its oldest has been idle for long', () => {
    const table = createConnectionTable(limits);
    for (const id of ['1', '2', '3', '4']) table.open(id, 'a', 0);
    expect(table.open('5', 'a', 4999)).toEqual({ do: 'refuse' });
    expect(table.open('5', 'a', 5000)).toEqual({ do: 'evict', id: '1', client: 'a' });
  });

  it('never replaces one of a machine that is being served', () => {
    const table = createConnectionTable(limits);
    for (const id of ['1', '2', '3', '4']) {
      table.open(id, 'a', 0);
      table.serve(id);
    }
    expect(table.open('5', 'b', 1_000_000)).toEqual({ do: 'refuse' });
    table.close('2');
    expect(table.open('5', 'b', 1_000_000)).toEqual({ do: 'accept' });
  });

  it('is refused only if no client has two idle ones more, and the limit always holds', () => {
    const steps = fc.array(
      fc.record({
        client: fc.constantFrom('a', 'b', 'c', 'd'),
        act: fc.constantFrom('open', 'open', 'serve', 'close'),
      }),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const table = createConnectionTable(limits);
        /** The client of every open connection; '' once it is served. */
        const model = new Map<string, string>();
        const count = (client: string): number => [...model.values()].filter((each) => each === client).length;
        const countMost = (): number => Math.max(...['a', 'b', 'c', 'd'].map(count));
        const acts = {
          open(client: string, id: string): boolean {
            const [isFull, most, own] = [table.size >= limits.connections, countMost(), count(client)];
            const admission = table.open(id, client, 0);
            if (admission.do === 'refuse') return isFull && most <= own + 1;
            const evicted = admission.do === 'evict' ? admission.id : '';
            const isFair = !isFull || (count(model.get(evicted) ?? '') === most && most > own + 1);
            model.delete(evicted);
            model.set(id, client);
            return isFair;
          },
          serve(): boolean {
            const [first = ''] = model.keys();
            table.serve(first);
            if (model.has(first)) model.set(first, '');
            return true;
          },
          close(): boolean {
            const [first = ''] = model.keys();
            table.close(first);
            model.delete(first);
            return true;
          },
        };
        for (const [index, { client, act }] of all.entries()) {
          expect(acts[act](client, String(index))).toBe(true);
          expect(table.size).toBe(model.size);
          expect(table.size).toBeLessThanOrEqual(limits.connections);
        }
      }),
    );
  });
});

describe('clientOfAddress', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, client) => {
    expect(clientOfAddress(address)).toBe(client);
  });
});
