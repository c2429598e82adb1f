import { type ConfigMap, configMaps } from '@slipway/api';
import { isKubeError } from '@slipway/kube';
import type { Client, Name, Stored } from '@slipway/kube';
import type { Random } from '@slipway/testing/random';

export interface WritersOptions {
  client: Client;
  random: Random;
  namespaces: readonly string[];
  writers: number;
  /** Objects that each writer has for itself. */
  names: number;
}

export interface Writers {
  /** Changes that the server has confirmed. */
  readonly done: number;
  /** The version of every object that was created or updated. */
  readonly versions: readonly string[];
  /** Makes so many changes more. */
  run(changes: number): Promise<void>;
}

/** Changes objects at random, each writer its own, straight at the server; goes on through crashes of it. */
export function createWriters({ client, random, namespaces, writers, names }: WritersOptions): Writers {
  const versions: string[] = [];
  let done = 0;

  function content(): Record<string, string> {
    // Lines of several TLS records, so that many are cut in the middle; some are large.
    const length = random.next() < 0.02 ? 40_000 : 100 + Math.floor(random.next() * 5000);
    return { n: String(done), text: '},{"metadata":{"name":"x"}} ü𝄞 '.repeat(Math.ceil(length / 35)) };
  }

  const confirm = (object: Stored<ConfigMap>): Stored<ConfigMap> => {
    versions.push(object.metadata.resourceVersion);
    done += 1;
    return object;
  };

  const create = async (name: Name): Promise<Stored<ConfigMap>> =>
    confirm(await client.create(configMaps, { metadata: name, data: content() }));

  async function remove(name: Name, { metadata }: Stored<ConfigMap>): Promise<undefined> {
    await client.delete(configMaps, name, { uid: metadata.uid });
    done += 1;
  }

  async function change(name: Name, now: Stored<ConfigMap> | undefined): Promise<Stored<ConfigMap> | undefined> {
    if (now === undefined) return create(name);
    const dice = random.next();
    if (dice < 0.75) {
      const { uid, resourceVersion } = now.metadata;
      const body = { data: content() };
      return confirm(await client.patch(configMaps, name, { type: 'merge', body }, { uid, resourceVersion }));
    }
    await remove(name, now);
    return dice < 0.9 ? create(name) : undefined;
  }

  const known = new Map<Name, Stored<ConfigMap> | undefined>();

  async function changeOne(name: Name): Promise<void> {
    try {
      known.set(name, await change(name, known.get(name)));
    } catch (error) {
      // The server died under it: whatever came of it, look, and go on from there.
      if (!isKubeError(error)) throw error;
      known.set(name, await client.find(configMaps, name));
    }
  }

  async function write(own: readonly Name[], enough: () => boolean): Promise<void> {
    while (!enough()) {
      const name = own[Math.floor(random.next() * own.length)];
      if (name !== undefined) await changeOne(name);
    }
  }

  const shares = Array.from({ length: writers }, (_, writer) =>
    Array.from({ length: names }, (_each, n): Name => {
      const namespace = namespaces[n % namespaces.length];
      return { ...(namespace === undefined ? {} : { namespace }), name: `w${writer}-${n}` };
    }),
  );
  return {
    get done() {
      return done;
    },
    versions,
    async run(changes) {
      const goal = done + changes;
      await Promise.all(shares.map((own) => write(own, () => done >= goal)));
    },
  };
}
