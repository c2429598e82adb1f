// Hosts and DataImages for tests.
import type { BareMetalHost, DataImage } from '@slipway/api';

export const URL = 'http://10.0.0.5/site-config.iso';

export interface HostSample {
  readonly annotations?: Record<string, string>;
  readonly deletionTimestamp?: string;
  readonly online?: boolean;
  readonly poweredOn?: boolean;
  readonly state?: string;
  readonly errorMessage?: string;
}

/** Externally provisioned and powered on by default. */
export const sampleHost = ({ deletionTimestamp, ...sample }: HostSample = {}): BareMetalHost => ({
  metadata: {
    namespace: 'metal',
    name: 'host-0',
    annotations: sample.annotations ?? {},
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
  },
  spec: { online: sample.online ?? true, externallyProvisioned: true },
  status: {
    operationalStatus: 'OK',
    poweredOn: sample.poweredOn ?? true,
    provisioning: { ID: '', state: sample.state ?? 'externally provisioned' },
    errorMessage: sample.errorMessage ?? '',
    errorCount: 0,
    provisioningFailCount: 0,
  },
});

export interface ImageSample {
  readonly attached?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly metadata?: Partial<DataImage['metadata']>;
}

export function sampleImage(sample: ImageSample = {}): DataImage {
  const { attached, reason, message = '', observedGeneration = 1 } = sample;
  const condition = {
    type: 'Attached',
    status: reason === 'Attached' ? ('True' as const) : ('False' as const),
    reason: reason ?? '',
    message,
    observedGeneration,
    lastTransitionTime: '2026-11-16T12:00:00Z',
  };
  return {
    metadata: { namespace: 'metal', name: 'host-0', generation: 1, ...sample.metadata },
    spec: { url: URL },
    status: {
      ...(attached === undefined ? {} : { attachedImage: { url: attached } }),
      conditions: reason === undefined ? [] : [condition],
    },
  };
}
