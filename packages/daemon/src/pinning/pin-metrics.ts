// Metrics of a node's pinned images.
import type { Metrics } from '@slipway/kube';
import { Counter, Gauge } from 'prom-client';
import type { PinProgress } from '@slipway/fleet';

export interface PinCounts {
  readonly present: number;
  readonly missing: number;
  readonly failed: number;
  readonly bytes: PinProgress['bytes'];
}

export interface PinMetrics {
  observe(counts: PinCounts): void;
  pulled(result: 'ok' | 'error'): void;
}

export function createPinMetrics({ registry }: Pick<Metrics, 'registry'>): PinMetrics {
  const registers = [registry];
  const images = new Gauge({
    name: 'slipway_pinned_images',
    help: 'Images assigned to this node: present, missing, or failed after several attempts.',
    labelNames: ['state'],
    registers,
  });
  const bytesDone = new Gauge({
    name: 'slipway_pinned_image_bytes_done',
    help: 'Compressed size of the assigned images that are present; shared layers count once.',
    registers,
  });
  const bytesTotal = new Gauge({
    name: 'slipway_pinned_image_bytes_total',
    help: 'Compressed size of all assigned images; shared layers count once.',
    registers,
  });
  const pulls = new Counter({
    name: 'slipway_pin_pulls_total',
    help: 'Finished pulls of images to be pinned.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['ok', 'error']) pulls.inc({ result }, 0);

  return {
    observe({ present, missing, failed, bytes }) {
      images.set({ state: 'present' }, present);
      images.set({ state: 'missing' }, missing);
      images.set({ state: 'failed' }, failed);
      bytesDone.set(bytes?.done ?? 0);
      bytesTotal.set(bytes?.total ?? 0);
    },
    pulled: (result) => pulls.inc({ result }),
  };
}
