// The Secrets with user data that machines are started with: read when they have changed, and our copies of customised ones kept.
import { type Secret, secrets } from '@slipway/api';
import {
  type MachineResource,
  managedStubName,
  nextStubStep,
  type StubFacts,
  stubNames,
  type StubReading,
  stubReading,
  stubRole,
  type StubSecret,
  type WantedCopy,
} from '@slipway/fleet/boot-images';
import { type Client, type Context, isKubeError, keyOf, type Read } from '@slipway/kube';
import { putSecret, textIn } from '../managed-secret.ts';
import { fieldManager } from './options.ts';

/** Ends of the names of Secrets whose change concerns whoever has user data of that role. */
const MANAGED = managedStubName('');

export interface UserData {
  readonly reading: StubReading;
  /** Our copy as it shall be; null where there is none, or it is so already. */
  readonly copy: WantedCopy | null;
}

export interface UserDataReader {
  /** `reference`: the Secret that the resource names; '' where it names none. */
  read(resource: Place, reference: string, reading: Reading): Promise<UserData>;
}

/** Which Secrets a resource with this reference looks at: for an index of resources by the Secrets that concern them. */
export const concernedBy = (reference: string): string[] => {
  const { original, copy } = stubNames(reference, null);
  return [...new Set([reference, original, copy])];
};

/** Whether a change of this Secret concerns everybody. */
export const isManagedStub = (name: string): boolean => name.endsWith(MANAGED);

type Place = Pick<MachineResource, 'api' | 'namespace'>;
type Reading = Pick<Context, 'read' | 'client'>;

/** A Secret is asked for again only when the watch has seen another version of it, and thought about as often. */
export function createUserDataReader(): UserDataReader {
  const secretsAt = new Map<string, { readonly version: string; readonly secret: Promise<StubSecret | null> }>();
  const answers = new Map<string, { readonly versions: string; readonly answer: UserData }>();

  function load(name: string, namespace: string, { read, client }: Reading): Promise<StubSecret | null> {
    const key = `${namespace}/${name}`;
    const version = versionOf(read, namespace, name);
    if (version === '') {
      secretsAt.delete(key);
      return Promise.resolve(null);
    }
    const kept = secretsAt.get(key);
    if (kept?.version === version) return kept.secret;
    const secret = fetch(client, { namespace, name });
    secretsAt.set(key, { version, secret });
    secret.catch(() => secretsAt.delete(key));
    return secret;
  }

  return {
    async read({ api, namespace }, reference, reading) {
      const { facts, names: all } = await readStubFacts({ api, namespace }, reference, (name) =>
        load(name, namespace, reading),
      );
      const versions = all.map((name) => versionOf(reading.read, namespace, name)).join(' ');
      const key = `${api} ${namespace}/${reference}`;
      const kept = answers.get(key);
      if (kept?.versions === versions) return kept.answer;
      const answer = userDataOf(facts);
      answers.set(key, { versions, answer });
      return answer;
    },
  };
}

/** All that decides about user data, by whoever can load Secrets; '' is the name of none. `names`: those that were looked at. */
export async function readStubFacts(
  { api, namespace }: Place,
  reference: string,
  load: (name: string) => Promise<StubSecret | null>,
): Promise<{ readonly facts: StubFacts; readonly names: readonly string[] }> {
  const names = stubNames(reference, await load(reference));
  const original = await load(names.original);
  const copy = await load(names.copy);
  const role = stubRole(original ?? copy, api);
  const managedName = role === null ? '' : managedStubName(role);
  const managed = await load(managedName);
  return {
    facts: { api, namespace, reference, names, original, copy, managed },
    names: [reference, names.original, names.copy, managedName],
  };
}

export function userDataOf(facts: StubFacts): UserData {
  const step = nextStubStep(facts);
  return { reading: stubReading(facts.reference, step), copy: step.type === 'copy' ? step.copy : null };
}

/** Makes or renews our copy. The Secrets that it is made of may be others by now: their change brings the resource back. */
export async function keepCopy(copy: WantedCopy, namespace: string, { client, log }: Context): Promise<void> {
  const { name, type, data, labels, annotations } = copy;
  const existing = await client.find(secrets, { namespace, name });
  const wanted = { name: { namespace, name }, type, data, labels, annotations };
  try {
    const written = await putSecret(client, existing, wanted, fieldManager);
    if (written !== existing) log.info({ secret: keyOf(written) }, 'wrote the copy of a customised stub');
  } catch (error) {
    // Many resources may have the same user data, and one of them was faster.
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  }
}

/** '' where the watch has not seen it. */
const versionOf = (read: Read, namespace: string, name: string): string =>
  read(secrets, { namespace, as: 'metadata' }).get(`${namespace}/${name}`)?.metadata.resourceVersion ?? '';

async function fetch(client: Client, name: { namespace: string; name: string }): Promise<StubSecret | null> {
  const secret = await client.find(secrets, name);
  return secret === undefined ? null : stubSecretOf(secret);
}

export const stubSecretOf = (secret: Secret): StubSecret => ({
  labels: secret.metadata.labels ?? {},
  annotations: secret.metadata.annotations ?? {},
  type: secret.type ?? 'Opaque',
  data: Object.fromEntries(Object.keys(secret.data ?? {}).map((key) => [key, textIn(secret, key) ?? ''])),
});
