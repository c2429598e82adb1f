// The one way to the machine's disk. Paths are those of the machine ('/etc/hosts'), wherever its root is mounted, and no
// path leads out of it, symbolic links included. Every method that changes something is one operation, so that a test can
// count them, make each fail, and drop what was not synced.

export interface Owners {
  readonly uid: number;
  readonly gid: number;
}

export type Found =
  | (Owners & {
      readonly kind: 'file';
      /** Of the permission bits and those above them: 0o7777. */
      readonly mode: number;
      readonly size: number;
      /** Two names with the same one are the same file. */
      readonly inode: number;
      /** Grows with every change of contents, mode or owner, as far as the file system tells. */
      readonly changedMs: number;
    })
  | (Owners & { readonly kind: 'directory'; readonly mode: number })
  | (Owners & { readonly kind: 'link'; readonly target: string })
  /** A device, a socket, a pipe. */
  | { readonly kind: 'other' };

/** Of a whole file system. */
export interface Space {
  /** Without what is set aside for root. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export interface NewFile extends Owners {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** The path whose place it will take by `rename`: where the host has SELinux, it is made with the label of what is there. */
  readonly replaces?: string;
}

/** Rejects with a DaemonError where a path is none that may be used, else with the error of the operating system. */
export interface FileSystem {
  /** What is at the path itself, a symbolic link included; null: nothing, or no such directory. */
  lookAt(path: string): Promise<Found | null>;
  /** Does not follow a link at the path itself. Rejects if there are more bytes than that. */
  read(path: string, limit: number): Promise<Uint8Array>;
  /** Names in a directory, sorted; none where there is no such directory. A link that leads to one is followed. */
  list(path: string): Promise<string[]>;
  /** Of the file system that a directory is on, or would be: where there is none yet, that of the nearest one above. */
  space(path: string): Promise<Space>;

  /** Only where nothing is yet; mode and owners are right before the first byte is in it. Not on the disk until synced. */
  createFile(path: string, file: NewFile): Promise<void>;
  /** In place, at an offset, within the size that the file has: needs no space. Not on the disk until synced. */
  overwrite(path: string, offset: number, bytes: Uint8Array): Promise<void>;
  /** Contents, mode and owners of a file are on the disk. Its name is when the directory was synced. */
  syncFile(path: string): Promise<void>;
  /** Names that came to and went from this directory are on the disk. A link that leads to it is followed. */
  syncDirectory(path: string): Promise<void>;
  makeDirectory(path: string, directory: Owners & { readonly mode: number }): Promise<void>;
  makeLink(path: string, link: Owners & { readonly target: string }): Promise<void>;
  /** A second name for a file, or for a link itself. Rejects with EXDEV where that is not on the same file system. */
  makeHardLink(path: string, existing: string): Promise<void>;
  /** Atomic, and in place of what is at `to`. Two names of the same file both stay, as POSIX has it. */
  rename(from: string, to: string): Promise<void>;
  /** A file or a link. */
  remove(path: string): Promise<void>;
  /** An empty one. */
  removeDirectory(path: string): Promise<void>;
  setMode(path: string, mode: number): Promise<void>;
  setOwners(path: string, owners: Owners): Promise<void>;
}
