import { readTokens, serverSecrets } from '@slipway/fleet';
import type { JoiningNode, ProvisioningToken } from '@slipway/fleet';
import type { Secret } from '@slipway/api';
import type { Inputs, ServingCertificate } from './source.ts';

/** The Secrets that the server answers from; one that does not exist is undefined. */
export interface ServerSecrets {
  serving: Secret | undefined;
  tokens: Secret | undefined;
  kubeconfig: Secret | undefined;
}

type FromSecrets = Pick<Inputs, 'certificate' | 'tokens' | 'node' | 'problems'>;

/** What the Secrets say. One that is missing or damaged is a problem of its own and keeps nothing else back. */
export function readSecrets(secrets: ServerSecrets, needsTokens: boolean): FromSecrets {
  const problems: string[] = [];
  const field = (secret: Secret, name: string): string => {
    const text = Buffer.from(secret.data?.[name] ?? '', 'base64').toString('utf8');
    if (text === '') problems.push(`Secret ${secret.metadata.name}, data["${name}"]: expected a value, found none`);
    return text;
  };
  const present = <T>(name: string, secret: Secret | undefined, read: (secret: Secret) => T): T | undefined => {
    if (secret !== undefined) return read(secret);
    problems.push(`Secret ${name} does not exist yet. The controllers make it; see that slipway controller runs`);
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

/** All of it or nothing: half a key pair is none. */
const complete = <T extends object>(value: T): T | undefined =>
  Object.values(value).every((part) => part !== '') ? value : undefined;

function tokensIn({ metadata, data }: Secret, problems: string[]): Map<string, ProvisioningToken[]> {
  const all = new Map<string, ProvisioningToken[]>();
  for (const [pool, encoded] of Object.entries(data ?? {})) {
    const tokens = readTokens(Buffer.from(encoded, 'base64').toString('utf8'));
    if (tokens === undefined) {
      problems.push(
        `Secret ${metadata.name}, data["${pool}"]: expected a JSON list of tokens, found something else. Delete the key, and the controllers make new tokens`,
      );
    } else all.set(pool, tokens);
  }
  return all;
}
