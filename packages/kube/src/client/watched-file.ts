import { readFile, stat } from 'node:fs/promises';

export interface FileOptions {
  /** How long a file's content is reused before the file is checked again. */
  lookEveryMs?: number | undefined;
}

/** A file that another process replaces: the API server's CA, a bound token, the kubelet's certificate, a kubeconfig. */
export interface WatchedFile {
  /** Cheap enough to call before every request. Rejects if the file cannot be read now. */
  read(): Promise<string>;
  /** What the next read returns without checking the file; undefined if it checks it. */
  recent(): string | undefined;
  /** The next read checks the file again. */
  forget(): void;
}

const DEFAULT_LOOK_EVERY_MS = 10_000;

/** `toError` words why the file cannot be read. */
export function watchFile(
  path: string,
  { lookEveryMs = DEFAULT_LOOK_EVERY_MS, maxBytes }: FileOptions & { maxBytes: number },
  toError: (cause: unknown) => Error,
): WatchedFile {
  let content: string | undefined;
  let identity = '';
  let checkedAt = 0;
  const recent = (): string | undefined => (performance.now() - checkedAt < lookEveryMs ? content : undefined);

  return {
    recent,
    async read() {
      const known = recent();
      if (known !== undefined) return known;
      const now = performance.now();
      try {
        // Follows links: the kubelet replaces the files of a mount by moving a link.
        const { mtimeMs, ino, size } = await stat(path);
        if (size > maxBytes) throw new RangeError(`expected at most ${maxBytes} bytes, found ${size}`);
        const found = `${mtimeMs} ${ino} ${size}`;
        if (content === undefined || found !== identity) content = await readFile(path, 'utf8');
        identity = found;
        checkedAt = now;
        return content;
      } catch (cause) {
        throw toError(cause);
      }
    },
    forget() {
      content = undefined;
    },
  };
}
