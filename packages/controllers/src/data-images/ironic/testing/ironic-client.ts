import type { Ironic, IronicOptions } from '@slipway/fleet/hosts';
import { type Fault } from '@slipway/testing/fake-http-server';
import { expect } from 'vitest';
import { createIronic } from '../client.ts';
import { IronicError } from '../ironic-error.ts';
import { type MisbehavingIronic, startMisbehavingIronic } from './misbehaving-ironic.ts';

export interface TestClient extends Ironic, AsyncDisposable {
  /** How long the client would have waited. */
  readonly slept: number[];
}

export function createTestClient({ url }: { url: string }, options: Partial<IronicOptions> = {}): TestClient {
  const slept: number[] = [];
  const clock = {
    sleep: async (ms: number): Promise<void> => {
      slept.push(ms);
    },
  };
  const ironic = createIronic({ url, timeoutMs: 10_000, driveTimeoutMs: 10_000, ...options }, clock);
  return { ...ironic, slept, [Symbol.asyncDispose]: () => ironic.close() };
}

export interface Talk extends AsyncDisposable {
  readonly server: MisbehavingIronic;
  readonly ironic: TestClient;
}

/** A server with these faults, tried in order, and a client of it. */
export async function talkTo(faults: readonly Fault[], options: Partial<IronicOptions> = {}): Promise<Talk> {
  const server = await startMisbehavingIronic();
  for (const fault of faults) server.fail(fault);
  const ironic = createTestClient(server, options);
  return {
    server,
    ironic,
    async [Symbol.asyncDispose]() {
      await ironic.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The BMC's password in tests, which no error may contain. */
export const BMC_PASSWORD = 'hunter2';

export const wanted = {
  driver: 'redfish',
  driverInfo: { redfish_address: 'https://bmc.example', redfish_username: 'admin', redfish_password: BMC_PASSWORD },
  hostUid: 'host-uid',
  digest: 'd1',
};

export async function expectFailure(work: Promise<unknown>): Promise<IronicError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
  if (!(error instanceof IronicError)) throw error;
  expect(`${error.stack} ${String(error.cause)}`).not.toContain(BMC_PASSWORD);
  return error;
}
