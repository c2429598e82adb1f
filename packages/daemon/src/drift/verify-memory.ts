// Results of earlier checks, so that checking an unchanged machine reads no files and runs no commands.
import { type Contents, hashContents } from '../desired-machine.ts';
import type { FileSystem, FileInfo } from '../host/file-system.ts';
import type { ObservedOS } from './compare.ts';

type RegularFileInfo = Extract<FileInfo, { kind: 'file' }>;

export interface Enablement {
  /** The output of `systemctl is-enabled`. */
  readonly state: string;
  readonly missingLinks: readonly string[];
}

export interface VerifyMemory {
  /** Of the whole file, or of its last `tail` bytes. */
  contents(files: FileSystem, path: string, found: RegularFileInfo, tail?: number): Promise<Contents>;
  enablement(unit: string, query: (unit: string) => Promise<Enablement>): Promise<Enablement>;
  /** Cached for good: the OS changes only with a reboot, which also ends this process. */
  os(query: () => Promise<ObservedOS>): Promise<ObservedOS>;
  /** A watch reported a change of this path. */
  forget(path: string): void;
  forgetUnits(): void;
}

/** Far above the size of a rendered config. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/**
 * A file that was modified this shortly before it was read may change again within the same clock tick of the file
 * system, and would appear unchanged.
 */
const TICK_MS = 100;

export function createVerifyMemory(now: () => number = Date.now): VerifyMemory {
  const files = new Map<string, { found: RegularFileInfo; contents: Contents }>();
  const enablements = new Map<string, Enablement>();
  let booted: ObservedOS | null = null;
  return {
    async contents(disk, path, found, tail) {
      const known = files.get(path);
      if (known !== undefined && known.contents.size === (tail ?? found.size) && isSameFile(known.found, found)) {
        return known.contents;
      }
      files.delete(path);
      const bytes = await disk.read(path, MAX_FILE_BYTES);
      const contents = hashContents(tail === undefined ? bytes : bytes.subarray(Math.max(0, bytes.length - tail)));
      if (now() - found.changedMs > TICK_MS) files.set(path, { found, contents });
      return contents;
    },

    async enablement(unit, query) {
      const enablement = enablements.get(unit) ?? (await query(unit));
      enablements.set(unit, enablement);
      return enablement;
    },

    async os(query) {
      booted ??= await query();
      return booted;
    },

    forget(path) {
      files.delete(path);
    },

    forgetUnits() {
      enablements.clear();
    },
  };
}

function isSameFile(a: RegularFileInfo, b: RegularFileInfo): boolean {
  return a.inode === b.inode && a.changedMs === b.changedMs && a.size === b.size && a.mode === b.mode;
}
