/** What stands in a layer's archive, as far as a search looks at it. */
export interface LayerEntry {
  readonly name: string;
  readonly type: string;
  readonly linkname: string | null | undefined;
  readonly size: number;
}

/** What a layer says of a path. */
export type Verdict =
  /** The layers below decide. */
  | { readonly kind: 'nothing' }
  /** The layers below are covered: the image has no such file. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'too large'; readonly size: number }
  | { readonly kind: 'not a file'; readonly type: string }
  /** A hard link means the file as this layer and those below have it; a symbolic one, the path in the whole image. */
  | { readonly kind: 'link'; readonly target: string; readonly hard: boolean };

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
const files = new Set(['file', 'contiguous-file']);

/**
 * Looks for one path in one layer. Whiteouts cover the layers below and never their own, wherever they stand in the
 * archive (OCI image spec, layer.md); of two entries for one path the later one counts.
 */
export class FileSearch {
  readonly #path: string;
  readonly #maxBytes: number;
  /** Parents of the path that the layers above have as folders: what else stands there in this layer is covered. */
  readonly #foldersAbove: ReadonlySet<string>;
  readonly #folders = new Set<string>();
  #found: Exclude<Verdict, { kind: 'nothing' | 'gone' }> | undefined;
  /** The parent that is a link, where that is what was found. */
  #through: string | undefined;
  #covers = false;

  constructor(path: string, maxBytes: number, foldersAbove: ReadonlySet<string> = new Set()) {
    this.#path = path;
    this.#maxBytes = maxBytes;
    this.#foldersAbove = foldersAbove;
  }

  get verdict(): Verdict {
    return this.#found ?? { kind: this.#covers ? 'gone' : 'nothing' };
  }

  /** For the search in the layer below. */
  get folders(): ReadonlySet<string> {
    return this.#foldersAbove.union(this.#folders);
  }

  /** Takes one entry; says whether its content is wanted. */
  see(entry: LayerEntry): boolean {
    const name = normalisePath(entry.name);
    if (name === undefined) return false;
    const base = name.slice(name.lastIndexOf('/') + 1);
    if (base.startsWith(WHITEOUT)) this.#seeWhiteout(getParent(name), base);
    else if (name === this.#path) return this.#seeIt(entry);
    else if (isBelow(this.#path, name)) this.#seeParent(name, entry);
    // What stands below the path makes it a folder, also without an entry of its own.
    else if (isBelow(name, this.#path)) this.#found = { kind: 'not a file', type: 'directory' };
    return false;
  }

  /** The content of the entry that was wanted. */
  take(bytes: Uint8Array): void {
    this.#found = { kind: 'file', bytes };
  }

  #seeWhiteout(folder: string, base: string): void {
    if (base === OPAQUE) {
      this.#covers ||= isBelow(this.#path, folder);
      return;
    }
    // Names with both prefixes are bookkeeping of an old file system, and cover nothing.
    if (base.startsWith(`${WHITEOUT}${WHITEOUT}`)) return;
    const covered = `${folder === '' ? '' : `${folder}/`}${base.slice(WHITEOUT.length)}`;
    this.#covers ||= covered === this.#path || isBelow(this.#path, covered);
  }

  #seeIt({ type, size, linkname }: LayerEntry): boolean {
    this.#through = undefined;
    if (files.has(type) && size <= this.#maxBytes) return true;
    if (files.has(type)) this.#found = { kind: 'too large', size };
    else if (type === 'link') {
      const target = normalisePath(linkname ?? '');
      this.#found = target === undefined ? { kind: 'not a file', type } : { kind: 'link', target, hard: true };
    } else if (type === 'symlink') {
      this.#found = { kind: 'link', target: resolveLink(this.#path, linkname ?? ''), hard: false };
    } else this.#found = { kind: 'not a file', type };
    return false;
  }

  #seeParent(name: string, { type, linkname }: LayerEntry): void {
    if (type === 'directory') {
      this.#folders.add(name);
      if (this.#through === name) this.#found = undefined;
      return;
    }
    // Whatever this layer had below that name is replaced with it, and what the layers below have there is covered.
    this.#folders.delete(name);
    this.#found = undefined;
    this.#covers = true;
    if (type === 'symlink' && !this.#foldersAbove.has(name)) {
      const target = `${resolveLink(name, linkname ?? '')}${this.#path.slice(name.length)}`.replace(/^\//, '');
      this.#found = { kind: 'link', target, hard: false };
      this.#through = name;
    }
  }
}

// Paths inside of an image, from its root, without a / at either end: `release-manifests/image-references`.

/** Undefined: the path leads out of the image. */
export function normalisePath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}

/** Where a symbolic link leads. Like in a container, nothing leads above the root. */
export function resolveLink(link: string, target: string): string {
  const parts = target.startsWith('/') ? [] : link.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

const getParent = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const isBelow = (path: string, folder: string): boolean =>
  path !== folder && (folder === '' || path.startsWith(`${folder}/`));
