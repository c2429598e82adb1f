// What can be measured of boot images: the resources that do not get theirs, each by name, until it does.
import type { ResourceVerdict } from '@slipway/fleet/boot-images';
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface BootImageMetrics {
  /** All that fail now: who is not among them is well again. */
  failing(verdicts: readonly Pick<ResourceVerdict, 'resource' | 'code'>[]): void;
}

export function createBootImageMetrics({ registry }: Pick<Metrics, 'registry'>): BootImageMetrics {
  const gauge = new Gauge({
    name: 'slipway_boot_image_failed',
    help: '1 for a MachineSet or MachineDeployment whose boot image cannot be kept current, by what is wrong.',
    labelNames: ['namespace', 'name', 'api', 'code'],
    registers: [registry],
  });
  return {
    failing(verdicts) {
      gauge.reset();
      for (const { resource, code } of verdicts) {
        const { namespace, name, api } = resource;
        gauge.set({ namespace, name, api, code: code ?? '' }, 1);
      }
    },
  };
}
