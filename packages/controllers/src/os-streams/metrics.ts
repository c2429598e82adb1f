import type { CodedProblem, StreamState } from '@slipway/fleet';
import type { Metrics } from '@slipway/kube';
import { Gauge } from 'prom-client';

export interface StreamMetrics {
  /** What is wrong with the sources. */
  problems(found: readonly CodedProblem[]): void;
  /** The stream of each pool. */
  pools(found: readonly { readonly stream: string; readonly state: StreamState }[]): void;
  reset(): void;
}

export function createStreamMetrics({ registry }: Pick<Metrics, 'registry'>): StreamMetrics {
  const problems = new Gauge({
    name: 'slipway_os_stream_problems',
    help: 'Problems with the sources of OS image streams; absent while there are none.',
    labelNames: ['code'],
    registers: [registry],
  });
  const pools = new Gauge({
    name: 'slipway_os_stream_pools',
    help: 'Pools on an OS image stream, by its state: supported, deprecated, blocked or removed.',
    labelNames: ['stream', 'state'],
    registers: [registry],
  });
  return {
    problems(found) {
      problems.reset();
      for (const { code } of found) problems.inc({ code });
    },
    pools(found) {
      pools.reset();
      for (const { stream, state } of found) pools.inc({ stream, state });
    },
    reset() {
      problems.reset();
      pools.reset();
    },
  };
}
