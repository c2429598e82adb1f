// What the audit log of kube-apiserver says that somebody did.
import { readFile } from 'node:fs/promises';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { vi } from 'vitest';

export interface AuditedRequest {
  verb: string;
  user: { username: string };
  responseStatus?: { code?: number };
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
}

/** All requests of a user, in the order in which they were answered. */
async function requestsOf({ auditLog }: ControlPlane, user: string): Promise<AuditedRequest[]> {
  const lines = (await readFile(auditLog, 'utf8')).trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as AuditedRequest).filter((request) => request.user.username === user);
}

/** The log is written a moment after the answer: waits until it has not grown for a while. */
export const settledRequestsOf = (controlPlane: ControlPlane, user: string): Promise<AuditedRequest[]> => {
  let before = -1;
  return vi.waitFor(
    async () => {
      const requests = await requestsOf(controlPlane, user);
      const isSettled = requests.length > 0 && requests.length === before;
      before = requests.length;
      if (!isSettled) throw new Error(`${user} made ${before} requests so far`);
      return requests;
    },
    { timeout: 20_000, interval: 500 },
  );
};
