// The user-data Secrets that machines start with: read on change. Also maintains our copies of customised ones.
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
import { type Context, isKubeError, keyOf } from '@slipway/kube';
import { putSecret } from '../managed-secret.ts';

/** The suffix of Secrets whose change affects every resource with user data of that role. */
const MANAGED = managedStubName('');

export interface UserDataReader {
  /** `reference`: the Secret that the resource references, or ''. */
  read(this: void, scope: UserDataScope, reference: string, view: SecretsView): Promise<UserData>;
}

/** The Secrets of one namespace. */
export interface SecretsView {
  /** '' if the watch has not seen it. */
  version(this: void, name: string): string;
  fetch(this: void, name: string): Promise<StubSecret | null>;
}

export const viewSecrets = (namespace: string, { read, client }: Pick<Context, 'read' | 'client'>): SecretsView => ({
  version: (name) =>
    read(secrets, { namespace, as: 'metadata' }).get(`${namespace}/${name}`)?.metadata.resourceVersion ?? '',
  fetch: async (name) => {
    const secret = await client.find(secrets, { namespace, name });
    return secret === undefined ? null : toStubSecret(secret);
  },
});

/** The Secrets that affect a resource with this reference: for an index of resources by Secret. */
export const listConcernedSecrets = (reference: string): string[] => {
  const { original, copy } = stubNames(reference, null);
  return [...new Set([reference, original, copy])];
};

/** Whether a change of this Secret affects every resource. */
export const isManagedStub = (name: string): boolean => name.endsWith(MANAGED);

type UserDataScope = Pick<MachineResource, 'api' | 'namespace'>;

/** Reads and evaluates a Secret again only when the watch has seen a new version. */
export function createUserDataReader(): UserDataReader {
  const secretsAt = new Map<string, { readonly version: string; readonly secret: Promise<StubSecret | null> }>();
  const answers = new Map<string, { readonly versions: string; readonly answer: UserData }>();

  function load(key: string, name: string, version: string, { fetch }: SecretsView): Promise<StubSecret | null> {
    if (version === '') {
      secretsAt.delete(key);
      return Promise.resolve(null);
    }
    const kept = secretsAt.get(key);
    if (kept?.version === version) return kept.secret;
    const secret = fetch(name);
    secretsAt.set(key, { version, secret });
    secret.catch(() => secretsAt.delete(key));
    return secret;
  }

  return {
    async read({ api, namespace }, reference, view) {
      // From before each load: a version that the watch sees during a load may be newer than the content.
      const loaded = new Map<string, string>();
      const facts = await readStubFacts({ api, namespace }, reference, (name) => {
        const version = view.version(name);
        if (!loaded.has(name)) loaded.set(name, version);
        return load(`${namespace}/${name}`, name, version, view);
      });
      const versions = [...loaded].map(([name, version]) => `${name}@${version}`).join(' ');
      const key = `${api} ${namespace}/${reference}`;
      const kept = answers.get(key);
      if (kept?.versions === versions) return kept.answer;
      const answer = decideUserData(facts);
      answers.set(key, { versions, answer });
      return answer;
    },
  };
}

/** Creates or updates our copy. If its source Secrets changed meanwhile, that change triggers the resource again. */
export async function keepCopy(copy: DesiredCopy, namespace: string, { client, write, log }: Context): Promise<void> {
  const { name, type, data, labels, annotations } = copy;
  const existing = await client.find(secrets, { namespace, name });
  const wanted = { name: { namespace, name }, type, data, labels, annotations };
  try {
    const written = await putSecret(write, existing, wanted);
    if (written !== existing) log.info({ secret: keyOf(written) }, 'updated the copy of a customised stub');
  } catch (error) {
    // Another resource with the same user data created the copy first.
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
  }
}
