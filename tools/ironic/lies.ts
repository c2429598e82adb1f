import type { ProxiedRequest, Fault, FaultRule } from './fault-proxy.ts';

// Behaviour of an Ironic in trouble, or of one whose BMC is: rules for a fault proxy.

type Call = Pick<ProxiedRequest, 'method' | 'path'>;

const attaches = ({ method, path }: Call) => method === 'POST' && path.endsWith('/vmedia');
const detaches = ({ method, path }: Call) => method === 'DELETE' && /\/vmedia\b/.test(path);
const readsDrives = ({ method, path }: Call) => method === 'GET' && path.endsWith('/vmedia');
const readsNode = ({ method, path }: Call) => method === 'GET' && /^\/v1\/nodes\/[^/?]+(\?|$)/.test(path);

/** An attach is accepted, but nothing is done. */
export const attachIsIgnored: FaultRule = (asked) => (attaches(asked) ? { kind: 'answer', status: 204 } : undefined);

/** A detach is accepted, but nothing is done. */
export const detachIsIgnored: FaultRule = (asked) => (detaches(asked) ? { kind: 'answer', status: 204 } : undefined);

/** Reports this medium, whatever is in the drive. */
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

/** Reports the old power state in this many responses, although Ironic has changed it. */
export function powerStateLags(state: 'power on' | 'power off', answers: number): FaultRule {
  let left = answers;
  return (asked) => {
    if (!readsNode(asked) || left === 0) return undefined;
    left -= 1;
    return { kind: 'change', change: (node) => ({ ...(node as object), power_state: state }) };
  };
}

/** Another client has locked the node, for this many change requests. */
export function nodeIsLocked(times = Infinity): FaultRule {
  const sentence = 'Node is locked by host elsewhere, please retry after the current operation is completed.';
  const fault: Fault = {
    kind: 'answer',
    status: 409,
    // Ironic's error is JSON within a JSON string.
    body: { error_message: JSON.stringify({ faultcode: 'Client', faultstring: sentence, debuginfo: null }) },
  };
  return first(times, ({ method }) => method !== 'GET', fault);
}

/** Closes the connection of this many matching requests, before Ironic sees them or after it has processed them. */
export const isCut = (pattern: RegExp, { after, times = Infinity }: { after: boolean; times?: number }): FaultRule =>
  first(times, ({ method, path }) => pattern.test(`${method} ${path}`), { kind: 'cut', after });

/** Does not answer this many matching requests. */
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
