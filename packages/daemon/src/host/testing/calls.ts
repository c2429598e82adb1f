// Every call of the file system as a value, so that one function can count, fail, stop or record any of them.
import type { FileSystem, NewFile, Owners } from '../file-system.ts';

export type ChangeCall =
  | { readonly operation: 'createFile'; readonly path: string; readonly file: NewFile }
  | { readonly operation: 'overwrite'; readonly path: string; readonly offset: number; readonly bytes: Uint8Array }
  | {
      readonly operation: 'makeDirectory';
      readonly path: string;
      readonly directory: Owners & { readonly mode: number };
    }
  | { readonly operation: 'makeLink'; readonly path: string; readonly link: Owners & { readonly target: string } }
  | { readonly operation: 'makeHardLink'; readonly path: string; readonly existing: string }
  | { readonly operation: 'rename'; readonly path: string; readonly from: string }
  | { readonly operation: 'remove' | 'removeDirectory' | 'syncFile' | 'syncDirectory'; readonly path: string }
  | { readonly operation: 'setMode'; readonly path: string; readonly mode: number }
  | { readonly operation: 'setOwners'; readonly path: string; readonly owners: Owners };

export type ReadCall = { readonly operation: 'lookAt' | 'read' | 'list' | 'space'; readonly path: string };

export type Call = ChangeCall | ReadCall;

const READ_OPERATIONS: ReadonlySet<string> = new Set(['lookAt', 'read', 'list', 'space']);

export function isChange(call: Call): call is ChangeCall {
  return !READ_OPERATIONS.has(call.operation);
}

/** Decides about each call: `run` executes it. */
export type Around = <T>(call: Call, run: () => Promise<T>) => Promise<T>;

export function aroundCalls(files: FileSystem, around: Around): FileSystem {
  const change = (call: ChangeCall) => around(call, () => executeCall(files, call));
  return {
    lookAt: (path) => around({ operation: 'lookAt', path }, () => files.lookAt(path)),
    read: (path, limit, inode) => around({ operation: 'read', path }, () => files.read(path, limit, inode)),
    list: (path) => around({ operation: 'list', path }, () => files.list(path)),
    space: (path) => around({ operation: 'space', path }, () => files.space(path)),
    createFile: (path, file) => change({ operation: 'createFile', path, file }),
    overwrite: (path, offset, bytes) => change({ operation: 'overwrite', path, offset, bytes }),
    syncFile: (path) => change({ operation: 'syncFile', path }),
    syncDirectory: (path) => change({ operation: 'syncDirectory', path }),
    makeDirectory: (path, directory) => change({ operation: 'makeDirectory', path, directory }),
    makeLink: (path, link) => change({ operation: 'makeLink', path, link }),
    makeHardLink: (path, existing) => change({ operation: 'makeHardLink', path, existing }),
    rename: (from, to) => change({ operation: 'rename', path: to, from }),
    remove: (path) => change({ operation: 'remove', path }),
    removeDirectory: (path) => change({ operation: 'removeDirectory', path }),
    setMode: (path, mode) => change({ operation: 'setMode', path, mode }),
    setOwners: (path, owners) => change({ operation: 'setOwners', path, owners }),
  };
}

export function executeCall(files: FileSystem, call: ChangeCall): Promise<void> {
  switch (call.operation) {
    case 'createFile':
      return files.createFile(call.path, call.file);
    case 'overwrite':
      return files.overwrite(call.path, call.offset, call.bytes);
    case 'makeDirectory':
      return files.makeDirectory(call.path, call.directory);
    case 'makeLink':
      return files.makeLink(call.path, call.link);
    case 'makeHardLink':
      return files.makeHardLink(call.path, call.existing);
    case 'rename':
      return files.rename(call.from, call.path);
    case 'setMode':
      return files.setMode(call.path, call.mode);
    case 'setOwners':
      return files.setOwners(call.path, call.owners);
    default:
      return files[call.operation](call.path);
  }
}
