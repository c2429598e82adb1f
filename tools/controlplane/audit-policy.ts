import type { Layout } from './layout.ts';
import { writePrivateFile } from './private-file.ts';

/** Every request once, when it has been answered; not what was in it, which may be secret. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted', 'Panic'],
  rules: [{ level: 'Metadata' }],
};

export const writeAuditPolicy = (at: Layout): Promise<void> => writePrivateFile(at.auditPolicy, JSON.stringify(policy));
