/** The fields of a tar entry that a search uses. */
export interface LayerEntry {
  readonly name: string;
  readonly type: string;
  readonly linkname: string | null | undefined;
  readonly size: number;
}

/** The result of the search in one layer. */
export type Verdict =
  /** Continue in the layer below. */
  | { readonly kind: 'nothing' }
  /** The layers below are hidden: the image has no such file. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  | { readonly kind: 'too large'; readonly size: number }
  | { readonly kind: 'not a file'; readonly type: string }
  /** A hard link is resolved from this layer down, a symbolic link in the whole image. */
  | { readonly kind: 'link'; readonly target: string; readonly hard: boolean };

const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
const files = new Set(['file', 'contiguous-file']);

/**
 * Searches one layer for one path. A whiteout hides the layers below, never its own layer, wherever it is in the
 * archive (OCI image spec, layer.md). Of two entries for one path, the later one wins.
 */
export class FileSearch {
  readonly #path: string;
  readonly #maxBytes: number;
  /** Parents of the path that are directories in the layers above, which hide links and files of this layer. */
  readonly #foldersAbove: ReadonlySet<string>;
  readonly #folders = new Set<string>();
  #found: Exclude<Verdict, { kind: 'nothing' | 'gone' }> | undefined;
  /** The parent directory that is a link, if the search found one. */
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

  /** Processes one entry. Returns whether the search needs its content. */
  see(entry: LayerEntry): boolean {
    const name = normalisePath(entry.name);
    if (name === undefined) return false;
    const base = name.slice(name.lastIndexOf('/') + 1);
    if (base.startsWith(WHITEOUT)) this.#seeWhiteout(getParent(name), base);
    else if (name === this.#path) return this.#seeIt(entry);
    else if (isBelow(this.#path, name)) this.#seeParent(name, entry);
    // An entry below the path makes the path a directory, even without an entry for it.
    else if (isBelow(name, this.#path)) this.#found = { kind: 'not a file', type: 'directory' };
    return false;
  }

  /** Receives the content of the needed entry. */
  take(bytes: Uint8Array): void {
    this.#found = { kind: 'file', bytes };
  }

  #seeWhiteout(folder: string, base: string): void {
    if (base === OPAQUE) {
      this.#covers ||= isBelow(this.#path, folder);
      return;
    }
    // Names with both prefixes are internal files of AUFS, and hide nothing.
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
    // It replaces what this layer had below that name, and hides what the layers below have there.
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

// Paths in an image, relative to its root, without leading or trailing /: `release-manifests/image-references`.

/** Undefined: the path leaves the image. */
export function normalisePath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}

/** Resolves a symbolic link. As in a container, it cannot leave the root. */
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
