import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDisk } from '../disk.ts';
import type { FileSystem } from '../file-system.ts';
import { aroundCalls, executeCall, type ChangeCall } from './calls.ts';
import { emptyImage } from './disk-image.ts';
import { createMemoryDisk } from './memory-disk.ts';

const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

const path = fc.oneof(
  fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`),
  fc.constantFrom('/', '/..', '/a/..', '/a/../b', 'a', '/a/../../b'),
);
const target = fc.constantFrom('a', '/b', '../c', '/a/b', '..', '../../d', '/d/../..', 'c/d', '/');
const bytes = fc.uint8Array({ minLength: 1, maxLength: 8 });
const mode = fc.constantFrom(0o600, 0o644, 0o755, 0o700, 0o1777, 0o4755);

const change: fc.Arbitrary<ChangeCall> = fc.oneof(
  fc.record({
    operation: fc.constant('createFile' as const),
    path,
    file: fc.record({ bytes, mode, uid: fc.constant(me.uid), gid: fc.constant(me.gid) }),
  }),
  fc.record({
    operation: fc.constant('makeDirectory' as const),
    path,
    directory: fc.record({ mode, uid: fc.constant(me.uid), gid: fc.constant(me.gid) }),
  }),
  fc.record({
    operation: fc.constant('makeLink' as const),
    path,
    link: fc.record({ target, uid: fc.constant(me.uid), gid: fc.constant(me.gid) }),
  }),
  fc.record({ operation: fc.constant('makeHardLink' as const), path, existing: path }),
  fc.record({ operation: fc.constant('rename' as const), path, from: path }),
  fc.record({ operation: fc.constant('overwrite' as const), path, offset: fc.nat(6), bytes }),
  fc.record({ operation: fc.constant('setMode' as const), path, mode }),
  fc.record({ operation: fc.constant('setOwners' as const), path, owners: fc.constant(me) }),
  fc.record({
    operation: fc.constantFrom(
      'remove' as const,
      'removeDirectory' as const,
      'syncFile' as const,
      'syncDirectory' as const,
    ),
    path,
  }),
);

/** Owners that a file has already are not set again: its setuid bit stays. */
const setOwnersAgain: ChangeCall[] = [
  { operation: 'createFile', path: '/a', file: { bytes: Buffer.from('a'), mode: 0o4755, ...me } },
  { operation: 'setOwners', path: '/a', owners: me },
];

it('a disk in memory behaves like a real one, and rejects what that rejects', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 30 }), path, async (changes, seen) => {
      const root = mkdtempSync(join(tmpdir(), 'slipway-memory-'));
      try {
        const [real, memory] = [createDisk({ root }), createMemoryDisk(emptyImage(me))];
        for (const each of changes)
          expect([each, await settleCall(executeCall(memory, each))]).toEqual([
            each,
            await settleCall(executeCall(real, each)),
          ]);
        expect(await readTree(memory, seen)).toEqual(await readTree(real, seen));
        expect(await readTree(memory, '/')).toEqual(await readTree(real, '/'));
      } finally {
        rmSync(root, { recursive: true });
      }
    }),
    { numRuns: 300, examples: [[setOwnersAgain, '/']] },
  );
});

it('a call behaves the same through a transparent wrapper', async () => {
  const files = aroundCalls(createMemoryDisk(emptyImage(me)), (_, run) => run());
  await files.makeDirectory('/etc', { mode: 0o755, ...me });
  await files.createFile('/etc/a', { bytes: Buffer.from('12'), mode: 0o644, ...me });
  await files.rename('/etc/a', '/etc/b');
  await files.overwrite('/etc/b', 1, Buffer.from('3'));
  expect(await files.list('/etc')).toEqual(['b']);
  expect(Buffer.from(await files.read('/etc/b', 10)).toString()).toBe('13');
});

/** The kernel decides which of several errors comes first; only that there is one matters. */
async function settleCall(call: Promise<unknown>): Promise<'done' | 'refused'> {
  return call.then(
    () => 'done' as const,
    () => 'refused' as const,
  );
}

async function readTree(files: FileSystem, at: string): Promise<unknown> {
  const found = await files.lookAt(at).catch(() => 'refused');
  if (found === null || typeof found === 'string' || found.kind === 'other') return found;
  if (found.kind === 'link') return found;
  const { uid, gid, mode: bits } = found;
  if (found.kind === 'file') return { uid, gid, bits, bytes: [...(await files.read(at, 100))] };
  // The creator of the disk makes its root.
  const own = at === '/' ? {} : { uid, gid, bits };
  const names = await files.list(at);
  return { ...own, below: await Promise.all(names.map(async (name) => [name, await readTree(files, join(at, name))])) };
}
