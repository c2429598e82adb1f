// Machines hear of a set at the same moment: each begins a little later than the others, and always by the same time.
import { createHash } from 'node:crypto';

export function startDelayMs(nodeName: string, mostMs: number): number {
  const share = createHash('sha256').update(nodeName).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(share * mostMs);
}
