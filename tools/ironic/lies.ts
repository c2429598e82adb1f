import type { ProxiedRequest, Fault, FaultRule } from './fault-proxy.ts';

// What an Ironic in trouble, or one whose BMC is, says and does: rules for a fault proxy before it.

type Call = Pick<ProxiedRequest, 'method' | 'path'>;

const attaches = ({ method, path }: Call) => method === 'POST' && path.endsWith('/vmedia');
const detaches = ({ method, path }: Call) => method === 'DELETE' && /\/vmedia\b/.test(path);
const readsDrives = ({ method, path }: Call) => method === 'GET' && path.endsWith('/vmedia');
const readsNode = ({ method, path }: Call) => method === 'GET' && /^\/v1\/nodes\/[^/?]+(\?|$)/.test(path);

/** An attach is answered as if it were taken, and nothing is done. */
export const attachIsIgnored: FaultRule = (asked) => (attaches(asked) ? { kind: 'answer', status: 204 } : undefined);

/** A detach is answered as if it were taken, and nothing is done. */
export const detachIsIgnored: FaultRule = (asked) => (detaches(asked) ? { kind: 'answer', status: 204 } : undefined);

/** Whatever is in the drive, this is said to be in it. */
export const driveShows =
  (image: string): FaultRule =>
  (asked) =>
    readsDrives(asked)
      ? {
          kind: 'change',
          change: (drives) =>
            each(drives, (drive) => (isCd(drive) ? { ...drive, inserted: image !== '', image } : drive)),
        }
      : undefined;

/** The power state is the one that it was, for so many answers, though Ironic has done what it was told. */
export function powerStateLags(state: 'power on' | 'power off', answers: number): FaultRule {
  let left = answers;
  return (asked) => {
    if (!readsNode(asked) || left === 0) return undefined;
    left -= 1;
    return { kind: 'change', change: (node) => ({ ...(node as object), power_state: state }) };
  };
}

/** Somebody else works on the node, for so many changes that are asked for. */
export function nodeIsLocked(times = Infinity): FaultRule {
  const sentence = 'Node is locked by host elsewhere, please retry after the current operation is completed.';
  const fault: Fault = {
    kind: 'answer',
    status: 409,
    // Ironic's error is JSON within a string of JSON.
    body: { error_message: JSON.stringify({ faultcode: 'Client', faultstring: sentence, debuginfo: null }) },
  };
  return first(times, ({ method }) => method !== 'GET', fault);
}

/** Ends connections, for so many requests of these, before Ironic hears of them or after it has done them. */
export const isCut = (pattern: RegExp, { after, times = Infinity }: { after: boolean; times?: number }): FaultRule =>
  first(times, ({ method, path }) => pattern.test(`${method} ${path}`), { kind: 'cut', after });

/** Answers nothing, to so many requests of these. */
export const hangs = (pattern: RegExp, times = Infinity): FaultRule =>
  first(times, ({ method, path }) => pattern.test(`${method} ${path}`), { kind: 'hang' });

function first(times: number, matches: (asked: Call) => boolean, fault: Fault): FaultRule {
  let left = times;
  return (asked) => {
    if (left === 0 || !matches(asked)) return undefined;
    left -= 1;
    return fault;
  };
}

type Device = Record<string, unknown>;

const each = (drives: unknown, change: (drive: Device) => Device): unknown =>
  Array.isArray(drives) ? drives.map((drive) => change(drive as Device)) : drives;

const isCd = ({ media_types: types }: Device): boolean => Array.isArray(types) && types.includes('CD');
