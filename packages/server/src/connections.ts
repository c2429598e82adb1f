// Which connections stay open when there are too many: pure bookkeeping.
import { isIPv6 } from 'node:net';

export interface ConnectionLimits {
  connections: number;
  /** When all connections are in use, one that has been idle for this long is closed for a new one. */
  fullIdleMs: number;
}

export type Admission =
  | { do: 'accept' }
  /** Close this idle connection of this client in favour of the new one. */
  | { do: 'evict'; id: string; client: string }
  | { do: 'refuse' };

export interface ConnectionTable {
  /** Decides on a new connection of this client. Unless it is refused, it counts from now on, as an idle one. */
  open(id: string, client: string, now: number): Admission;
  /** It belongs to an authorized machine, and is no longer idle. */
  serve(id: string): void;
  /** Does nothing if it is not known. */
  close(id: string): void;
  readonly size: number;
}

/**
 * Idle connections, which have not authorized themselves yet, are shared fairly between clients when there are too many:
 * a new connection replaces the oldest idle one of the client with the most. So one client can use all of them, such as
 * a rack of machines behind one address, but never keeps another one out.
 */
export function createConnectionTable({ connections, fullIdleMs }: ConnectionLimits): ConnectionTable {
  /** By client, oldest first, with the time at which each was opened. */
  const idle = new Map<string, Map<string, number>>();
  const clientOf = new Map<string, string>();

  function forgetIdle(id: string): void {
    const client = clientOf.get(id) ?? '';
    const ids = idle.get(client);
    ids?.delete(id);
    if (ids?.size === 0) idle.delete(client);
  }

  function close(id: string): void {
    forgetIdle(id);
    clientOf.delete(id);
  }

  /** The oldest idle connection of the client with the most. */
  function findVictim(): { id: string; client: string; since: number; count: number } | undefined {
    let most: [string, Map<string, number>] | undefined;
    for (const entry of idle) if (entry[1].size > (most?.[1].size ?? 0)) most = entry;
    const [oldest] = most?.[1] ?? [];
    if (most === undefined || oldest === undefined) return undefined;
    return { client: most[0], count: most[1].size, id: oldest[0], since: oldest[1] };
  }

  function decide(client: string, now: number): Admission {
    if (clientOf.size < connections) return { do: 'accept' };
    const victim = findVictim();
    if (victim === undefined) return { do: 'refuse' };
    // More than one more: otherwise two clients would take the same place from each other in turn.
    const hasMore = victim.count > (idle.get(client)?.size ?? 0) + 1;
    const isOld = now - victim.since >= fullIdleMs;
    return hasMore || isOld ? { do: 'evict', id: victim.id, client: victim.client } : { do: 'refuse' };
  }

  return {
    open(id, client, now) {
      const admission = decide(client, now);
      if (admission.do === 'refuse') return admission;
      if (admission.do === 'evict') close(admission.id);
      clientOf.set(id, client);
      const ids = idle.get(client) ?? new Map<string, number>();
      idle.set(client, ids.set(id, now));
      return admission;
    },
    serve: forgetIdle,
    close,
    get size() {
      return clientOf.size;
    },
  };
}

/** Whom an address belongs to: an IPv6 network of 64 bits counts as one client, because one machine has all of it. */
export function clientOfAddress(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [before, after] = [groups(head), groups(tail ?? '')];
  const filled = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return `${filled
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
