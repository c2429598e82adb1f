import { createIronic } from '../client.ts';
import type { Ironic, IronicOptions } from '../ironic.ts';

export interface TestClient extends Ironic, AsyncDisposable {
  /** How long it has waited, without waiting. */
  readonly slept: number[];
}

export function clientOf({ url }: { url: string }, options: Partial<IronicOptions> = {}): TestClient {
  const slept: number[] = [];
  const ironic = createIronic({ url, timeoutMs: 10_000, driveTimeoutMs: 10_000, ...options }, async (ms) => {
    slept.push(ms);
  });
  return { ...ironic, slept, [Symbol.asyncDispose]: () => ironic.close() };
}
