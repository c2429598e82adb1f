import type { Metrics } from '@slipway/kube';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { AdmissionQueue } from './admission-queue.ts';

/** One finished request. */
export interface Fetch {
  /** Empty if the request named no existing pool. */
  pool: string;
  status: number;
  version: string;
  form: string;
  bytes: number;
  ms: number;
}

export interface ServerMetrics {
  fetched(fetch: Fetch): void;
  prepared(pool: string, bytes: number): void;
  notPrepared(pool: string): void;
  forget(pool: string): void;
  handshakeFailed(): void;
  dropped(): void;
  observe(gate: AdmissionQueue, connections: () => number): void;
}

/** The server's metrics, in the registry of its process. */
export function createServerMetrics({ registry }: Metrics): ServerMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'slipway_server_requests_total',
    help: 'Requests answered, by pool, status, spec version and form.',
    labelNames: ['pool', 'status', 'version', 'form'],
    registers,
  });
  const bytes = new Counter({
    name: 'slipway_server_sent_bytes_total',
    help: 'Config bytes sent.',
    labelNames: ['pool'],
    registers,
  });
  const seconds = new Histogram({
    name: 'slipway_server_request_duration_seconds',
    help: 'Time from the request to the last byte, or until the connection closed.',
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const preparedAt = new Gauge({
    name: 'slipway_server_prepared_timestamp_seconds',
    help: 'When the responses for a pool were last prepared.',
    labelNames: ['pool'],
    registers,
  });
  const preparedBytes = new Gauge({
    name: 'slipway_server_prepared_bytes',
    help: 'Bytes of prepared responses in memory for a pool.',
    labelNames: ['pool'],
    registers,
  });
  const outdated = new Gauge({
    name: 'slipway_server_outdated',
    help: '1 while the newest config of a pool cannot be prepared. The previous one is served, if any.',
    labelNames: ['pool'],
    registers,
  });
  const handshakes = new Counter({
    name: 'slipway_server_handshake_failures_total',
    help: 'Connections that ended before the TLS handshake completed.',
    registers,
  });
  const drops = new Counter({
    name: 'slipway_server_dropped_connections_total',
    help: 'Connections closed immediately because too many were open.',
    registers,
  });

  return {
    fetched(fetch) {
      const { pool, status, version, form } = fetch;
      requests.inc({ pool, status, version, form });
      bytes.inc({ pool }, fetch.bytes);
      seconds.observe(fetch.ms / 1000);
    },
    prepared(pool, size) {
      preparedAt.set({ pool }, Date.now() / 1000);
      preparedBytes.set({ pool }, size);
      outdated.set({ pool }, 0);
    },
    notPrepared: (pool) => outdated.set({ pool }, 1),
    forget(pool) {
      for (const gauge of [preparedAt, preparedBytes, outdated]) gauge.remove({ pool });
    },
    handshakeFailed: () => handshakes.inc(),
    dropped: () => drops.inc(),
    observe(gate, connections) {
      const readings = { sending: () => gate.active, waiting: () => gate.waiting, connections };
      for (const [name, read] of Object.entries(readings)) {
        registry.registerMetric(
          new Gauge({
            name: `slipway_server_${name}`,
            help: `Current count: ${name}.`,
            registers: [],
            collect() {
              this.set(read());
            },
          }),
        );
      }
    },
  };
}
