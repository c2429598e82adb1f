// A disk that fails, or a program that ends, at one call.
import { constants } from 'node:os';
import { getSystemErrorMessage } from 'node:util';
import { type FileSystem, type Owners, ownOwners } from '../file-system.ts';
import { aroundCalls, type Call, executeCall, type ChangeCall, isChange } from './calls.ts';

export type Fault =
  /** The program ends: no later call is executed, and none returns. */
  | { readonly kind: 'stop'; readonly when: 'before' | 'half way' | 'after' }
  /** This call fails once. A file that was being created does not remain. */
  | { readonly kind: 'error'; readonly code: 'ENOSPC' | 'EIO' }
  /** Permanently from this call on: `EROFS` for every change, `ENOSPC` for everything that needs space. */
  | { readonly kind: 'from there on'; readonly code: 'EROFS' | 'ENOSPC' };

export interface FaultyDisk {
  readonly files: FileSystem;
  /** The counted calls so far. */
  readonly calls: () => number;
  /** The disturbed call. */
  readonly hit: () => Call | undefined;
  /** Resolves when the program has ended. */
  readonly stopped: Promise<void>;
}

/** `at` counts changes, or read-only calls, from 0. */
export function createFaultyDisk(
  disk: FileSystem,
  { at, of, fault }: { readonly at: number; readonly of: 'changes' | 'looks'; readonly fault: Fault },
): FaultyDisk {
  const stop = Promise.withResolvers<void>();
  let calls = 0;
  let hit: Call | undefined;
  let ended = false;

  const files = aroundCalls(disk, async (call, run) => {
    if (ended) return never();
    const isIt = isCounted(call, of, fault) && calls++ === at;
    if (isIt) hit = call;
    if (hit === undefined) return run();
    if (fault.kind === 'stop') {
      ended = true;
      // A call that fails was executed too.
      if (fault.when !== 'before')
        await Promise.allSettled([fault.when === 'half way' ? executeHalf(disk, call) : run()]);
      stop.resolve();
      return never();
    }
    if (fault.kind === 'error' ? isIt : isRefused(fault.code, call)) throw systemError(fault.code, call);
    return run();
  });
  return { files, calls: () => calls, hit: () => hit, stopped: stop.promise };
}

/** What stands for systemd and the OS on a simulated machine is not written by the daemon. */
const SIMULATED = /^\/run\/slipway-simulated|^\/run\/systemd|^\/var\/lib\/slipway-simulated/;

/** A disk that refuses the daemon's writes from the one with this number on, until it is repaired. */
export function createRefusingDisk(
  disk: FileSystem,
  { at, code }: { readonly at: number; readonly code: 'EROFS' | 'ENOSPC' },
): { readonly files: FileSystem; readonly state: { writes: number; refusals: number; isRepaired: boolean } } {
  const state = { writes: 0, refusals: 0, isRepaired: false };
  const files = aroundCalls(disk, (call, run) => {
    if (!isChange(call) || SIMULATED.test(call.path)) return run();
    state.writes += 1;
    if (state.isRepaired || state.writes <= at || !isRefused(code, call)) return run();
    state.refusals += 1;
    return Promise.reject(systemError(code, call));
  });
  return { files, state };
}

/** Only writes can stop half way. */
function isCounted(call: Call, of: 'changes' | 'looks', fault: Fault): boolean {
  if (fault.kind === 'stop' && fault.when === 'half way') return canBeHalfDone(call);
  return isChange(call) === (of === 'changes');
}

/** Never settles: its caller no longer runs. */
function never<T>(): Promise<T> {
  return new Promise<T>(() => {});
}

const NEED_SPACE: ReadonlySet<Call['operation']> = new Set(['createFile', 'makeDirectory', 'makeLink', 'makeHardLink']);

/** `ENOSPC` refuses only what needs space. */
function isRefused(code: 'EROFS' | 'ENOSPC', call: Call): boolean {
  return code === 'EROFS' ? isChange(call) && !call.operation.startsWith('sync') : NEED_SPACE.has(call.operation);
}

type InSteps = Extract<ChangeCall, { operation: 'createFile' | 'overwrite' | 'makeDirectory' | 'makeLink' }>;

/** Calls that consist of several system calls. */
function canBeHalfDone(call: Call): call is InSteps {
  switch (call.operation) {
    case 'createFile':
    case 'overwrite':
      return true;
    case 'makeDirectory':
      return !isOwn(call.directory);
    case 'makeLink':
      return !isOwn(call.link);
    default:
      return false;
  }
}

function isOwn({ uid, gid }: Owners): boolean {
  const own = ownOwners();
  return uid === own.uid && gid === own.gid;
}

async function executeHalf(disk: FileSystem, call: Call): Promise<void> {
  if (!canBeHalfDone(call)) return;
  switch (call.operation) {
    case 'overwrite':
      return executeCall(disk, { ...call, bytes: call.bytes.subarray(0, call.bytes.length >> 1) });
    case 'createFile': {
      const { file } = call;
      return executeCall(disk, { ...call, file: { ...file, bytes: file.bytes.subarray(0, file.bytes.length >> 1) } });
    }
    // Still private, because the owner is set later.
    case 'makeDirectory':
      return executeCall(disk, { ...call, directory: { ...ownOwners(), mode: call.directory.mode & 0o700 } });
    case 'makeLink':
      return executeCall(disk, { ...call, link: { ...ownOwners(), target: call.link.target } });
  }
}

function systemError(code: 'ENOSPC' | 'EIO' | 'EROFS', { operation, path }: Call): Error {
  const errno = -constants.errno[code];
  const text = `${code}: ${getSystemErrorMessage(errno)}, ${operation} ${path}`;
  return Object.assign(new Error(text), { code, errno, path });
}
