import type { Ironic, StepOptions } from '@slipway/fleet/hosts';
import type { Metrics } from '@slipway/kube';

export interface DataImagesOptions {
  /** How Ironic is spoken to: called when there is work, and again after what it made was closed. */
  readonly ironic: () => Ironic;
  /** Another operator registers and powers the hosts; only their drives are ours. */
  readonly besideOperator?: boolean | undefined;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /** Shorter in tests. */
  readonly times?: Partial<Times> | undefined;
}

export interface Times extends Pick<StepOptions, 'pollMs' | 'settleMs' | 'softOffMs' | 'minuteMs' | 'lastEjectMs'> {
  /** How soon a host at rest is looked at again: somebody may have pressed its button, and Ironic may have forgotten it. */
  readonly restMs: number;
  /** How soon an Ironic that does not answer is asked again. */
  readonly ironicMs: number;
}

export const usualRest: Pick<Times, 'restMs' | 'ironicMs'> = { restMs: 60_000, ironicMs: 15_000 };
