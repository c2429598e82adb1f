import { createRegistry } from '../client.ts';
import type { Registry, RegistryOptions, RegistryRules } from '../registry.ts';
import { createTestClock } from './clock.ts';
import type { TestClock } from './clock.ts';
import type { MisbehavingRegistry } from './misbehaving-registry.ts';

export interface TestClient extends Registry, AsyncDisposable {
  readonly clock: TestClock;
}

/** A client that uses plain http for these servers, never really waits, and requests linux/amd64. */
export function createTestClient(
  servers: readonly MisbehavingRegistry[],
  options: RegistryOptions & Partial<RegistryRules> = {},
): TestClient {
  const clock = createTestClock();
  const platform = { os: 'linux', architecture: 'amd64' };
  const plainHttp = servers.map(({ host }) => host);
  const redirectRule = (): null => null;
  const registry = createRegistry(
    { plainHttp, platform, silenceMs: 5000, retries: 2, redirectRule, ...options },
    clock,
  );
  return { ...registry, clock, [Symbol.asyncDispose]: () => registry.close() };
}
