import { randomInt } from 'node:crypto';
import type { Secret } from '@slipway/api';
import { textsIn, type WantedSecret } from '../managed-secret.ts';
import type { BootstrapToken } from './next-bootstrap-tokens.ts';

/** Where kube-apiserver looks for them, and what it asks of their names. */
export const bootstrapNamespace = 'kube-system';
const prefix = 'bootstrap-token-';
const characters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Whose tokens they are: the namespace of ours that they were made for. */
export const bootstrapTokenLabel = 'slipway.dev/bootstrap-token-of';
/** What RBAC binds to: who comes with such a token may ask for a node's certificate, and nothing else. */
const bootstrapGroup = 'system:bootstrappers:slipway';

export const secretNameOf = (id: string): string => `${prefix}${id}`;

export function mintBootstrapToken(now: Date, lifetime: number): BootstrapToken {
  const draw = (length: number): string =>
    Array.from({ length }, () => characters[randomInt(characters.length)]).join('');
  // The API keeps whole seconds.
  return { id: draw(6), secret: draw(16), expires: Math.ceil((now.getTime() + lifetime) / 1000) * 1000 };
}

export const bootstrapTokenSecret = ({ id, secret, expires }: BootstrapToken, namespace: string): WantedSecret => ({
  name: { namespace: bootstrapNamespace, name: secretNameOf(id) },
  type: 'bootstrap.kubernetes.io/token',
  labels: { [bootstrapTokenLabel]: namespace },
  data: {
    description: `By which new machines join, made by slipway in ${namespace}. It is replaced before it expires.`,
    'token-id': id,
    'token-secret': secret,
    expiration: `${new Date(expires).toISOString().slice(0, 19)}Z`,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'false',
    'auth-extra-groups': bootstrapGroup,
  },
});

const form = { id: /^[a-z0-9]{6}$/, secret: /^[a-z0-9]{16}$/ };

/** Undefined where kube-apiserver would not take it either. */
export function readBootstrapToken(stored: Secret): BootstrapToken | undefined {
  const fields = ['token-id', 'token-secret', 'expiration', 'usage-bootstrap-authentication'] as const;
  const data = textsIn(stored, fields);
  const { 'token-id': id = '', 'token-secret': secret = '' } = data;
  const expires = Date.parse(data.expiration ?? '');
  const isGood =
    form.id.test(id) &&
    form.secret.test(secret) &&
    !Number.isNaN(expires) &&
    data['usage-bootstrap-authentication'] === 'true' &&
    stored.metadata.name === secretNameOf(id);
  return isGood ? { id, secret, expires } : undefined;
}
