import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileSearch, type LayerEntry, normalisePath, resolveLink, type Verdict } from './file-search.ts';

interface Entry {
  name: string;
  type?: string;
  content?: string;
  linkname?: string;
}

/** What layers, the lowest first, say of a path, as the reader of images asks them. */
function findVerdict(path: string, layers: readonly (readonly Entry[])[], maxBytes = 1000): Verdict {
  let folders: ReadonlySet<string> = new Set();
  for (const layer of layers.toReversed()) {
    const search = new FileSearch(path, maxBytes, folders);
    for (const { name, type = 'file', content = '', linkname } of layer) {
      const entry: LayerEntry = { name, type, linkname, size: content.length };
      if (search.see(entry)) search.take(Buffer.from(content));
    }
    if (search.verdict.kind !== 'nothing') return search.verdict;
    folders = search.folders;
  }
  return { kind: 'gone' };
}

const file = (content: string): Verdict => ({ kind: 'file', bytes: Buffer.from(content) });
const gone: Verdict = { kind: 'gone' };
const below: Entry[] = [{ name: 'etc/app/conf', content: 'old' }];

describe('a file in the layers of an image', () => {
  it.each(['etc/app/conf', './etc/app/conf', '/etc/app/conf', 'etc//app/./conf'])('is found as %s', (name) => {
    expect(findVerdict('etc/app/conf', [[{ name, content: 'x' }]])).toEqual(file('x'));
  });

  it.each<[string, Entry[], Verdict]>([
    ['a layer that says nothing of it leaves it', [{ name: 'etc/other' }], file('old')],
    ['the topmost one counts', [{ name: 'etc/app/conf', content: 'new' }], file('new')],
    ['a whiteout of it ends the search', [{ name: 'etc/app/.wh.conf' }], gone],
    ['a whiteout of a folder above it ends the search', [{ name: 'etc/.wh.app' }], gone],
    ['a whiteout at the root ends the search', [{ name: '.wh.etc' }], gone],
    ['an opaque folder covers what was in it', [{ name: 'etc/app/.wh..wh..opq' }], gone],
    ['an opaque folder further up covers it too', [{ name: './etc/.wh..wh..opq' }], gone],
    ['an opaque root covers everything', [{ name: '.wh..wh..opq' }], gone],
    ['a whiteout of a neighbour leaves it', [{ name: 'etc/app/.wh.confs' }], file('old')],
    ['a whiteout of a folder with a longer name leaves it', [{ name: 'etc/.wh.app2' }], file('old')],
    ['an opaque folder beside it leaves it', [{ name: 'etc/other/.wh..wh..opq' }], file('old')],
    ['bookkeeping of an old file system leaves it', [{ name: 'etc/app/.wh..wh.plnk' }], file('old')],
    [
      'a whiteout does not cover its own layer, whatever comes first',
      [{ name: 'etc/app/conf', content: 'new' }, { name: 'etc/app/.wh.conf' }],
      file('new'),
    ],
    [
      'an opaque mark does not cover its own layer, whatever comes first',
      [{ name: 'etc/.wh..wh..opq' }, { name: 'etc/app/conf', content: 'new' }],
      file('new'),
    ],
    [
      'of two entries the later one counts',
      [
        { name: 'etc/app/conf', content: 'first' },
        { name: 'etc/app/conf', content: 'second' },
      ],
      file('second'),
    ],
    ['a file where a folder was covers it', [{ name: 'etc/app', content: 'x' }], gone],
    ['a folder of the same name merges', [{ name: 'etc/app/', type: 'directory' }], file('old')],
    [
      'a folder in its place is no file',
      [{ name: 'etc/app/conf/', type: 'directory' }],
      { kind: 'not a file', type: 'directory' },
    ],
    ['what stands below it makes it a folder', [{ name: 'etc/app/conf/x' }], { kind: 'not a file', type: 'directory' }],
    ['a pipe in its place is no file', [{ name: 'etc/app/conf', type: 'fifo' }], { kind: 'not a file', type: 'fifo' }],
    ['an entry that leads out of the image is passed over', [{ name: '../etc/app/conf', content: 'x' }], file('old')],
    [
      'a symbolic link leads on, relative to where it stands',
      [{ name: 'etc/app/conf', type: 'symlink', linkname: '../real/conf' }],
      { kind: 'link', target: 'etc/real/conf', hard: false },
    ],
    [
      'a symbolic link never leads above the root',
      [{ name: 'etc/app/conf', type: 'symlink', linkname: '../../../../../x' }],
      { kind: 'link', target: 'x', hard: false },
    ],
    [
      'a hard link leads on from the root',
      [{ name: 'etc/app/conf', type: 'link', linkname: './etc/real' }],
      { kind: 'link', target: 'etc/real', hard: true },
    ],
    [
      'a folder that is a link leads on',
      [{ name: 'etc/app', type: 'symlink', linkname: '/opt' }],
      { kind: 'link', target: 'opt/conf', hard: false },
    ],
    [
      'a folder that is a link to the root leads on',
      [{ name: 'etc/app', type: 'symlink', linkname: '/' }],
      { kind: 'link', target: 'conf', hard: false },
    ],
  ])('%s', (_, top, expected) => {
    expect(findVerdict('etc/app/conf', [below, top])).toEqual(expected);
  });

  it('a folder above covers a link to one below', () => {
    const link: Entry[] = [{ name: 'etc/app', type: 'symlink', linkname: '/opt' }];
    expect(findVerdict('etc/app/conf', [link, [{ name: 'etc/app', type: 'directory' }]])).toEqual(gone);
  });

  it('one that is larger than wanted is told by its size, and its content is not taken', () => {
    const layers = [[{ name: 'a', content: 'x'.repeat(11) }]];
    expect(findVerdict('a', layers, 10)).toEqual({ kind: 'too large', size: 11 });
  });

  it('any layers give what applying them one on the other gives', () => {
    const path = fc.constantFrom('a', 'a/b', 'a/b/c', 'a/d', 'e', 'e/b');
    const entry = fc.oneof(
      { weight: 4, arbitrary: fc.record({ name: path, content: fc.string({ maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ name: path, type: fc.constant('directory') }) },
      { weight: 1, arbitrary: path.map((it) => ({ name: it.replace(/[^/]+$/, '.wh.$&') })) },
      { weight: 1, arbitrary: path.map((it) => ({ name: `${it}/.wh..wh..opq` })) },
    );
    fc.assert(
      fc.property(fc.array(fc.array(entry, { maxLength: 5 }), { maxLength: 5 }), path, (layers, wanted) => {
        expect(findVerdict(wanted, layers)).toEqual(applied(layers, wanted));
      }),
      { numRuns: 2000 },
    );
  });
});

/** The slow way: a whole file system, changed layer by layer as a runtime does. Folders are null. */
function applied(layers: readonly (readonly Entry[])[], wanted: string): Verdict {
  const tree = new Map<string, string | null>();
  for (const layer of layers) {
    for (const { name } of layer) takeAway(tree, name);
    for (const entry of layer) if (!entry.name.includes('.wh.')) putIn(tree, entry);
  }
  const found = tree.get(wanted);
  if (found === undefined) return gone;
  return found === null ? { kind: 'not a file', type: 'directory' } : file(found);
}

function takeAway(tree: Map<string, string | null>, name: string): void {
  const [, folder = '', base = ''] = /^(.*\/)?([^/]+)$/.exec(name) ?? [];
  if (base === '.wh..wh..opq') removeBelow(tree, folder);
  else if (base.startsWith('.wh.')) {
    tree.delete(`${folder}${base.slice(4)}`);
    removeBelow(tree, `${folder}${base.slice(4)}/`);
  }
}

function putIn(tree: Map<string, string | null>, { name, type, content = '' }: Entry): void {
  const parts = name.split('/');
  // What is in the way of a folder gives way to it.
  for (let depth = 1; depth < parts.length; depth += 1) tree.set(parts.slice(0, depth).join('/'), null);
  if (type !== 'directory') removeBelow(tree, `${name}/`);
  tree.set(name, type === 'directory' ? null : content);
}

function removeBelow(tree: Map<string, string | null>, folder: string): void {
  for (const path of tree.keys()) if (path.startsWith(folder)) tree.delete(path);
}

describe('a path in an image', () => {
  const parts = (...more: string[]) => fc.array(fc.constantFrom('a', 'b', '.', '', ...more)).map((it) => it.join('/'));

  it('is the same however it is written', () => {
    fc.assert(
      fc.property(parts(), (path) => {
        expect(normalisePath(`/./${path}/`)).toBe(normalisePath(path));
        expect(normalisePath(path)).not.toMatch(/^\/|\/$|\/\/|(^|\/)\.(\/|$)/);
      }),
    );
  });

  it('never leads out, and neither does a link', () => {
    fc.assert(
      fc.property(parts('..'), parts('..'), (before, after) => {
        expect(normalisePath(`${before}/../${after}`)).toBeUndefined();
        expect(resolveLink('x/y', `${before}/../${after}`).split('/')).not.toContain('..');
      }),
    );
  });
});
