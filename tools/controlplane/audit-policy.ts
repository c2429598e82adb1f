import { truncate } from 'node:fs/promises';
import type { Layout } from './layout.ts';
import { writePrivateFile } from './private-file.ts';

/** Every request once, after its response; without bodies, which may be secret. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted', 'Panic'],
  rules: [{ level: 'Metadata' }],
};

/**
 * Creates the log empty: the API server appends to an existing file, but writes to one of its own at its last offset,
 * so that truncating it would have no effect.
 */
export async function prepareAudit(at: Layout): Promise<void> {
  await writePrivateFile(at.auditPolicy, JSON.stringify(policy));
  await writePrivateFile(at.auditLog, '');
}

/** Clears the log, even while the API server runs. */
export const cutAuditLog = (auditLog: string): Promise<void> => truncate(auditLog);
