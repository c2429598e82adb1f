// What the audit log of kube-apiserver says that somebody wrote.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { vi } from 'vitest';

export interface AuditedWrite {
  /** Such as `patch machinesets/status openshift-machine-api/a 200`. */
  readonly text: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly code: number;
  /** When it was answered. */
  readonly at: Date;
}

interface Line {
  readonly verb: string;
  readonly stageTimestamp: string;
  readonly user: { readonly username: string };
  readonly responseStatus?: { readonly code?: number };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

const writes = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** All writes of a user, in the order in which they were answered. Events are left out: they tell, and change nothing. */
async function writesOf(auditLog: string, user: string): Promise<AuditedWrite[]> {
  const found: AuditedWrite[] = [];
  for await (const text of createInterface({ input: createReadStream(auditLog) })) {
    // Most lines are of others, and a line that is being written is not whole.
    if (!text.includes(user) || !text.endsWith('}')) continue;
    const line = JSON.parse(text) as Line;
    if (line.user.username !== user || !writes.has(line.verb) || line.objectRef?.resource === 'events') continue;
    found.push(writeOf(line));
  }
  return found;
}

function writeOf({ verb, stageTimestamp, responseStatus, objectRef = {} }: Line): AuditedWrite {
  const { resource: plural = '', subresource, namespace, name: own = '' } = objectRef;
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  const name = namespace === undefined ? own : `${namespace}/${own}`;
  const code = responseStatus?.code ?? 0;
  return { text: `${verb} ${resource} ${name} ${code}`, verb, resource, name, code, at: new Date(stageTimestamp) };
}

/** The log is written a moment after the answer: waits until it has not grown for a while. */
export function settledWritesOf(auditLog: string, user: string): Promise<AuditedWrite[]> {
  let before = -1;
  return vi.waitFor(
    async () => {
      const found = await writesOf(auditLog, user);
      const isSettled = found.length === before;
      before = found.length;
      if (!isSettled) throw new Error(`${user} has written ${before} times so far`);
      return found;
    },
    { timeout: 20_000, interval: 300 },
  );
}
