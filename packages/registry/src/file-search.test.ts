import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileSearch, type LayerEntry, normalisePath, resolveLink, type Verdict } from './file-search.ts';

interface Entry {
  name: string;
  type?: string;
  content?: string;
  linkname?: string;
}

/** The verdict of layers (bottom first) about a path, searched like the file reader does. */
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
    ['a layer without it leaves it unchanged', [{ name: 'etc/other' }], file('old')],
    ['the top layer wins', [{ name: 'etc/app/conf', content: 'new' }], file('new')],
    ['a whiteout of it ends the search', [{ name: 'etc/app/.wh.conf' }], gone],
    ['a whiteout of a parent directory ends the search', [{ name: 'etc/.wh.app' }], gone],
    ['a whiteout at the root ends the search', [{ name: '.wh.etc' }], gone],
    ['an opaque directory hides its content', [{ name: 'etc/app/.wh..wh..opq' }], gone],
    ['an opaque ancestor hides it too', [{ name: './etc/.wh..wh..opq' }], gone],
    ['an opaque root hides everything', [{ name: '.wh..wh..opq' }], gone],
    ['a whiteout of a sibling leaves it', [{ name: 'etc/app/.wh.confs' }], file('old')],
    ['a whiteout of a directory with a longer name leaves it', [{ name: 'etc/.wh.app2' }], file('old')],
    ['an opaque sibling directory leaves it', [{ name: 'etc/other/.wh..wh..opq' }], file('old')],
    ['an internal AUFS file leaves it', [{ name: 'etc/app/.wh..wh.plnk' }], file('old')],
    [
      'a whiteout does not hide its own layer, in any order',
      [{ name: 'etc/app/conf', content: 'new' }, { name: 'etc/app/.wh.conf' }],
      file('new'),
    ],
    [
      'an opaque marker does not hide its own layer, in any order',
      [{ name: 'etc/.wh..wh..opq' }, { name: 'etc/app/conf', content: 'new' }],
      file('new'),
    ],
    [
      'the later of two entries wins',
      [
        { name: 'etc/app/conf', content: 'first' },
        { name: 'etc/app/conf', content: 'second' },
      ],
      file('second'),
    ],
    ['a file in place of a directory hides it', [{ name: 'etc/app', content: 'x' }], gone],
    ['a directory of the same name is merged', [{ name: 'etc/app/', type: 'directory' }], file('old')],
    [
      'a directory in its place is not a file',
      [{ name: 'etc/app/conf/', type: 'directory' }],
      { kind: 'not a file', type: 'directory' },
    ],
    ['an entry below it makes it a directory', [{ name: 'etc/app/conf/x' }], { kind: 'not a file', type: 'directory' }],
    [
      'a pipe in its place is not a file',
      [{ name: 'etc/app/conf', type: 'fifo' }],
      { kind: 'not a file', type: 'fifo' },
    ],
    ['an entry outside the image is ignored', [{ name: '../etc/app/conf', content: 'x' }], file('old')],
    [
      'a symbolic link is followed relative to its directory',
      [{ name: 'etc/app/conf', type: 'symlink', linkname: '../real/conf' }],
      { kind: 'link', target: 'etc/real/conf', hard: false },
    ],
    [
      'a symbolic link cannot leave the root',
      [{ name: 'etc/app/conf', type: 'symlink', linkname: '../../../../../x' }],
      { kind: 'link', target: 'x', hard: false },
    ],
    [
      'a hard link is followed from the root',
      [{ name: 'etc/app/conf', type: 'link', linkname: './etc/real' }],
      { kind: 'link', target: 'etc/real', hard: true },
    ],
    [
      'a linked directory is followed',
      [{ name: 'etc/app', type: 'symlink', linkname: '/opt' }],
      { kind: 'link', target: 'opt/conf', hard: false },
    ],
    [
      'a directory linked to the root is followed',
      [{ name: 'etc/app', type: 'symlink', linkname: '/' }],
      { kind: 'link', target: 'conf', hard: false },
    ],
  ])('%s', (_, top, expected) => {
    expect(findVerdict('etc/app/conf', [below, top])).toEqual(expected);
  });

  it('a directory in a higher layer hides a link below', () => {
    const link: Entry[] = [{ name: 'etc/app', type: 'symlink', linkname: '/opt' }];
    expect(findVerdict('etc/app/conf', [link, [{ name: 'etc/app', type: 'directory' }]])).toEqual(gone);
  });

  it('a file over the limit is reported by size, without its content', () => {
    const layers = [[{ name: 'a', content: 'x'.repeat(11) }]];
    expect(findVerdict('a', layers, 10)).toEqual({ kind: 'too large', size: 11 });
  });

  it('law: the result equals that of applying all layers', () => {
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

/** The reference implementation: applies layer by layer like a runtime. Directories are null. */
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
  // A directory replaces other entries in its place.
  for (let depth = 1; depth < parts.length; depth += 1) tree.set(parts.slice(0, depth).join('/'), null);
  if (type !== 'directory') removeBelow(tree, `${name}/`);
  tree.set(name, type === 'directory' ? null : content);
}

function removeBelow(tree: Map<string, string | null>, folder: string): void {
  for (const path of tree.keys()) if (path.startsWith(folder)) tree.delete(path);
}

describe('a path in an image', () => {
  const parts = (...more: string[]) => fc.array(fc.constantFrom('a', 'b', '.', '', ...more)).map((it) => it.join('/'));

  it('is normalized', () => {
    fc.assert(
      fc.property(parts(), (path) => {
        expect(normalisePath(`/./${path}/`)).toBe(normalisePath(path));
        expect(normalisePath(path)).not.toMatch(/^\/|\/$|\/\/|(^|\/)\.(\/|$)/);
      }),
    );
  });

  it('never leaves the image, and neither does a link', () => {
    fc.assert(
      fc.property(parts('..'), parts('..'), (before, after) => {
        expect(normalisePath(`${before}/../${after}`)).toBeUndefined();
        expect(resolveLink('x/y', `${before}/../${after}`).split('/')).not.toContain('..');
      }),
    );
  });
});
