import { createHash } from 'node:crypto';

/** SHA-256 in hex. Here, so that packages without I/O do not import Node modules for it. */
export const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
