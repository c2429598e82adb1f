import { truncate } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { writePrivateFile } from './private-file.ts';

/** Every request once, when it has been answered; not what was in it, which may be secret. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted', 'Panic'],
  rules: [{ level: 'Metadata' }],
};

/**
 * The log is made here, empty: one that the API server finds it appends to, one that it makes itself it writes to from where it
 * stopped. What was noted could not be cut off then.
 */
export async function prepareAudit(at: Layout): Promise<void> {
  await writePrivateFile(at.auditPolicy, JSON.stringify(policy));
  await writePrivateFile(at.auditLog, '');
}

/** What was noted so far is gone, also while the API server runs. */
export const cutAuditLog = (auditLog: string): Promise<void> => truncate(auditLog);
