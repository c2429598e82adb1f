import { type MachineConfigPool, machineConfigPools, machineConfigs, type Secret, secrets } from '@slipway/api';
import { type JoiningNode, type ProvisioningToken, readTokens, servedConfig, serverSecrets } from '@slipway/fleet';
import { createClient, createInformer, type Informer, type Log, type Transport } from '@slipway/kube';
import type { Inputs, ServingCertificate, Source } from './source.ts';

interface ClusterSourceOptions {
  transport: Transport;
  namespace: string;
  /** Whether machines must present a token: then a missing token Secret is a problem. */
  needsTokens: boolean;
  log: Log;
  signal: AbortSignal;
}

/**
 * Follows the cluster: pools, and three Secrets by name. Rendered configs are read on demand and not stored. Resolves
 * when everything has been read once.
 */
export async function createClusterSource(options: ClusterSourceOptions): Promise<Source> {
  const { transport, namespace, signal, log } = options;
  const client = createClient(transport);
  const listeners = new Set<() => void>();
  const onProblem = (error: unknown): void => log.warn({ err: error }, 'watch failed; reopening it');

  const pools = createInformer<MachineConfigPool>(transport, { resource: machineConfigPools, onProblem });
  const secret = (name: string): Informer<Secret> =>
    createInformer<Secret>(transport, {
      resource: secrets,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      onProblem,
    });
  const serving = secret(serverSecrets.serving);
  const tokens = secret(serverSecrets.tokens);
  const kubeconfig = secret(serverSecrets.kubeconfig);
  const informers = [pools, serving, tokens, kubeconfig];

  // Many changes arrive together: listeners are called once for all of them.
  let isScheduled = false;
  function notifySoon(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      for (const listener of listeners) listener();
    });
  }
  for (const informer of informers) {
    informer.onChange(notifySoon);
    informer.start(signal);
  }
  await Promise.all(informers.map(({ synced }) => synced));

  const only = (informer: Informer<Secret>): Secret | undefined => [...informer.store.values()][0];

  return {
    read(): Inputs {
      return {
        pools: new Map([...pools.store.values()].map((pool) => [pool.metadata.name, servedConfig(pool)])),
        ...readSecrets(
          { serving: only(serving), tokens: only(tokens), kubeconfig: only(kubeconfig) },
          options.needsTokens,
        ),
      };
    },
    load: (name) => client.get(machineConfigs, { name }),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isBehind: () => informers.some(({ problem }) => problem !== undefined),
  };
}

/** The Secrets that the server answers from; undefined if one does not exist. */
interface ServerSecrets {
  serving: Secret | undefined;
  tokens: Secret | undefined;
  kubeconfig: Secret | undefined;
}

type FromSecrets = Pick<Inputs, 'certificate' | 'tokens' | 'node' | 'problems'>;

/** Reads the Secrets. A missing or damaged one is reported and does not affect the others. */
export function readSecrets(secrets: ServerSecrets, needsTokens: boolean): FromSecrets {
  const problems: string[] = [];
  const field = (secret: Secret, name: string): string => {
    const text = Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
    if (text === '') problems.push(`Secret ${secret.metadata.name}, data["${name}"]: expected a value, found none`);
    return text;
  };
  const present = <T>(name: string, secret: Secret | undefined, read: (secret: Secret) => T): T | undefined => {
    if (secret !== undefined) return read(secret);
    problems.push(
      `Secret ${name} does not exist yet. The controllers create it: check that slipway controller is running`,
    );
    return undefined;
  };

  const certificate = present(serverSecrets.serving, secrets.serving, (secret) =>
    complete<ServingCertificate>({ cert: field(secret, 'tls.crt'), key: field(secret, 'tls.key') }),
  );
  const node = present(serverSecrets.kubeconfig, secrets.kubeconfig, (secret) =>
    complete<JoiningNode>({ kubeconfig: field(secret, 'kubeconfig'), caBundle: field(secret, 'ca.crt') }),
  );
  const tokens =
    needsTokens || secrets.tokens !== undefined
      ? present(serverSecrets.tokens, secrets.tokens, (secret) => tokensIn(secret, problems))
      : undefined;
  return { certificate, node, tokens: tokens ?? new Map(), problems };
}

/** All or nothing: half a key pair is useless. */
const complete = <T extends object>(value: T): T | undefined =>
  Object.values(value).every((part) => part !== '') ? value : undefined;

function tokensIn({ metadata, data }: Secret, problems: string[]): Map<string, ProvisioningToken[]> {
  const all = new Map<string, ProvisioningToken[]>();
  for (const [pool, encoded] of Object.entries(data ?? {})) {
    const tokens = readTokens(Buffer.from(encoded, 'base64').toString('utf8'));
    if (tokens === undefined) {
      problems.push(
        `Secret ${metadata.name}, data["${pool}"]: expected a JSON list of tokens, found something else. Delete the key; the controllers then create new tokens`,
      );
    } else all.set(pool, tokens);
  }
  return all;
}
