// The Secrets with user data that machines are started with: read when they have changed, and our copies of customised ones kept.
import { secrets } from '@slipway/api';
import {
  type MachineResource,
  managedStubName,
  readStubFacts,
  stubNames,
  type StubSecret,
  toStubSecret,
  type UserData,
  decideUserData,
  type DesiredCopy,
} from '@slipway/fleet/boot-images';
import { type Client, type Context, isKubeError, keyOf, type StoreReader } from '@slipway/kube';
import { putSecret } from '../managed-secret.ts';

/** Ends of the names of Secrets whose change concerns whoever has user data of that role. */
const MANAGED = managedStubName('');

export interface UserDataReader {
  /** `reference`: the Secret that the resource names; '' where it names none. */
  read(resource: UserDataScope, reference: string, reading: ReadContext): Promise<UserData>;
}

/** Which Secrets a resource with this reference looks at: for an index of resources by the Secrets that concern them. */
export const listConcernedSecrets = (reference: string): string[] => {
  const { original, copy } = stubNames(reference, null);
  return [...new Set([reference, original, copy])];
};

/** Whether a change of this Secret concerns everybody. */
export const isManagedStub = (name: string): boolean => name.endsWith(MANAGED);

type UserDataScope = Pick<MachineResource, 'api' | 'namespace'>;
type ReadContext = Pick<Context, 'read' | 'client'>;

/** A Secret is asked for again only when the watch has seen another version of it, and thought about as often. */
export function createUserDataReader(): UserDataReader {
  const secretsAt = new Map<string, { readonly version: string; readonly secret: Promise<StubSecret | null> }>();
  const answers = new Map<string, { readonly versions: string; readonly answer: UserData }>();

  function load(name: string, namespace: string, { read, client }: ReadContext): Promise<StubSecret | null> {
    const key = `${namespace}/${name}`;
    const version = readSecretVersion(read, namespace, name);
    if (version === '') {
      secretsAt.delete(key);
      return Promise.resolve(null);
    }
    const kept = secretsAt.get(key);
    if (kept?.version === version) return kept.secret;
    const secret = fetchStubSecret(client, { namespace, name });
    secretsAt.set(key, { version, secret });
    secret.catch(() => secretsAt.delete(key));
    return secret;
  }

  return {
    async read({ api, namespace }, reference, reading) {
      const { facts, names: all } = await readStubFacts({ api, namespace }, reference, (name) =>
        load(name, namespace, reading),
      );
      const versions = all.map((name) => readSecretVersion(reading.read, namespace, name)).join(' ');
      const key = `${api} ${namespace}/${reference}`;
      const kept = answers.get(key);
      if (kept?.versions === versions) return kept.answer;
      const answer = decideUserData(facts);
      answers.set(key, { versions, answer });
      return answer;
    },
  };
}

/** Makes or renews our copy. The Secrets that it is made of may be others by now: their change brings the resource back. */
export async function keepCopy(copy: DesiredCopy, namespace: string, { client, write, log }: Context): Promise<void> {
  const { name, type, data, labels, annotations } = copy;
  const existing = await client.find(secrets, { namespace, name });
  const wanted = { name: { namespace, name }, type, data, labels, annotations };
  try {
    const written = await putSecret(write, existing, wanted);
    if (written !== existing) log.info({ secret: keyOf(written) }, 'wrote the copy of a customised stub');
  } catch (error) {
    // Many resources may have the same user data, and one of them was faster.
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  }
}

/** '' where the watch has not seen it. */
const readSecretVersion = (read: StoreReader, namespace: string, name: string): string =>
  read(secrets, { namespace, as: 'metadata' }).get(`${namespace}/${name}`)?.metadata.resourceVersion ?? '';

async function fetchStubSecret(client: Client, name: { namespace: string; name: string }): Promise<StubSecret | null> {
  const secret = await client.find(secrets, name);
  return secret === undefined ? null : toStubSecret(secret);
}
