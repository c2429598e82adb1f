// The client of controllers, on an API in memory.
import { pods } from '@slipway/api';
import type { Client, KubeObject, ListOptions, Resource, Transport, WriteAttempt, WriteGuard } from '@slipway/kube';
import type { MemoryApi } from './memory-api.ts';
import { selects } from './selectors.ts';

/** What is between a client and its server: executes the call, when and if it arrives. Null: it writes nothing. */
export type Wire = <T>(write: WriteAttempt | null, carryOut: () => T) => Promise<T>;

/** Takes no time and loses nothing. */
const shortWire: Wire = async (_, carryOut) => carryOut();

export function createMemoryClient(api: MemoryApi, wire: Wire = shortWire, guards: readonly WriteGuard[] = []): Client {
  const read = <T>(carryOut: () => T): Promise<T> => wire(null, carryOut);
  const write = <T>(attempt: WriteAttempt, carryOut: () => T): Promise<T> => {
    const checked = (): T => {
      for (const guard of guards) guard(attempt);
      return carryOut();
    };
    return wire(attempt, checked);
  };

  return {
    transport: none,
    guarded: (guard) => createMemoryClient(api, wire, [...guards, guard]),
    get: (resource, name) => read(() => api.get(resource, name)),
    find: (resource, name) => read(() => api.find(resource, name)),
    async *list<T extends KubeObject>(resource: Resource<T>, options: ListOptions = {}) {
      yield* await read(() => api.list(resource).filter((object) => selects(options, object)));
    },
    create: (resource, object) =>
      write({ verb: 'create', resource, name: object.metadata, precondition: {} }, () => api.create(resource, object)),
    patch: (resource, name, patch, precondition, { subresource } = {}) =>
      write({ verb: 'patch', resource, name, subresource, precondition }, () =>
        api.patch(resource, name, patch, precondition, subresource),
      ),
    apply: () => Promise.reject(new Error('server-side apply is not simulated: no controller of a rollout uses it')),
    delete: (resource, name, precondition, options) =>
      write({ verb: 'delete', resource, name, precondition }, () => api.delete(resource, name, precondition, options)),
    evict: (pod, precondition, options) =>
      write({ verb: 'evict', resource: pods, name: pod, precondition }, () => api.evict(pod, precondition, options)),
  };
}

const noTransport = (): Promise<never> => Promise.reject(new Error('an API in memory has no transport'));
const none: Transport = { server: 'memory:', json: noTransport, open: noTransport, close: () => Promise.resolve() };
