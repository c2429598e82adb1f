// Images that nobody has made: what a simulated machine would transfer for one is calculated from its name, the same everywhere.
import { createHash } from 'node:crypto';
import { digestOf } from '@slipway/daemon/host';
import type { SizedImage } from '@slipway/fleet';

const SMALLEST = 1_000_000;
const SPREAD = 40_000_000;

/** Two layers: one that all images of the repository share, and one of its own. */
export function simulatedLayers(image: string): SizedImage {
  const [repository = ''] = image.split('@');
  const [shared, own] = [hashOf(repository), hashOf(digestOf(image) || image)];
  return { layers: [shared, own].map((hash) => ({ digest: `sha256:${hash}`, size: sizeOf(hash) })) };
}

/** What it takes unpacked, as a runtime tells it. */
export const simulatedSize = (image: string): number =>
  2 * simulatedLayers(image).layers.reduce((sum, { size }) => sum + size, 0);

export const simulatedId = (image: string): string => hashOf(`config of ${image}`);

const sizeOf = (hash: string): number => SMALLEST + (Number.parseInt(hash.slice(0, 8), 16) % SPREAD);

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
