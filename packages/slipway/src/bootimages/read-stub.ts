// The Secrets with user data that machines are started with. Nothing here writes.
import { secrets } from '@slipway/api';
import {
  type MachineResource,
  readStubFacts,
  type StubReading,
  type StubSecret,
  stubSecretOf,
  userDataOf,
} from '@slipway/fleet/boot-images';
import { type Client, isKubeError } from '@slipway/kube';

/** Hundreds of MachineSets name the same few Secrets: each is read once. */
export function createStubReader(client: Client) {
  const loaded = new Map<string, Promise<StubSecret | null>>();
  const load = (namespace: string, name: string): Promise<StubSecret | null> => {
    if (name === '') return Promise.resolve(null);
    const key = `${namespace}/${name}`;
    const known = loaded.get(key) ?? find(client, namespace, name);
    loaded.set(key, known);
    return known;
  };
  return async ({ api, namespace }: MachineResource, reference: string): Promise<StubReading> => {
    try {
      const { facts } = await readStubFacts({ api, namespace }, reference, (name) => load(namespace, name));
      return userDataOf(facts).reading;
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
      return hidden(reference);
    }
  };
}

/** Not everybody may read Secrets, and the controllers may: it is no failure, and nothing is known of it. */
const hidden = (reference: string): StubReading => ({
  ok: true,
  current: reference,
  wanted: reference,
  note: `you may not read Secret ${reference}: whether its user data is changed is not shown`,
  needsNewImage: false,
});

async function find(client: Client, namespace: string, name: string): Promise<StubSecret | null> {
  const secret = await client.find(secrets, { namespace, name });
  return secret === undefined ? null : stubSecretOf(secret);
}
