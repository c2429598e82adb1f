// Runs the controllers in a separate process, as in a cluster, and measures it from outside.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pickFreePort } from '@slipway/tools/controlplane';
import { startService } from '@slipway/tools/run';
import { cpuMs, peakMegabytes } from '../server/usage.ts';

/** The command of a user; its shell becomes Node. */
const program = resolve(import.meta.dirname, '../../slipway');

export interface ControllerProcess {
  cpuMs(): Promise<number>;
  /** The peak so far. */
  peakMegabytes(): Promise<number>;
  residentMegabytes(): Promise<number>;
  /** How long keys waited for a worker: per bound in seconds, how many keys waited at most that long. */
  queueWaits(controllers: readonly string[]): Promise<Map<number, number>>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 120_000;

export async function startControllers(kubeconfig: string): Promise<ControllerProcess> {
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = [
    '--kubeconfig',
    kubeconfig,
    '--server-url',
    'https://127.0.0.1:22623',
    '--no-leader-elect',
    '--log-level',
    'warn',
  ];
  const controllers = startService(program, ['controller', ...flags, '--probes', `127.0.0.1:${port}`], {
    name: 'slipway controller',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const { pid } = controllers;
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await controllers.waitUntil(isReady, READY_WITHIN_MS).catch(async (error: unknown) => {
    await controllers.stop('SIGKILL');
    throw error;
  });
  return {
    cpuMs: () => cpuMs([pid]),
    peakMegabytes: () => peakMegabytes([pid]),
    async residentMegabytes() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      return (Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
    },
    async queueWaits(names) {
      const text = await (await fetch(`${url}/metrics`)).text();
      const waits = new Map<number, number>();
      for (const [, bound = '', controller = '', count] of text.matchAll(BUCKET)) {
        if (!names.includes(controller)) continue;
        const seconds = bound === '+Inf' ? Infinity : Number(bound);
        waits.set(seconds, (waits.get(seconds) ?? 0) + Number(count));
      }
      return waits;
    },
    stop: () => controllers.stop(),
  };
}

const BUCKET = /^slipway_queue_wait_seconds_bucket\{le="([^"]+)",controller="([^"]+)"\} (\d+)$/gm;

/** The wait that 99 of 100 keys stay below, interpolated within its bucket. */
export function percentile99(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const bounds = [...after.keys()].toSorted((a, b) => a - b);
  const upTo = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const wanted = upTo(Infinity) * 0.99;
  let [lower, below] = [0, 0];
  for (const bound of bounds) {
    const count = upTo(bound);
    if (count >= wanted && bound !== Infinity)
      return lower + ((bound - lower) * (wanted - below)) / (count - below || 1);
    [lower, below] = [bound, count];
  }
  return lower;
}
