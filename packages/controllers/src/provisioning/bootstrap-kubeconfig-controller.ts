import { randomInt } from 'node:crypto';
import { configMaps, type Secret, secrets } from '@slipway/api';
import { type FirstBootOptions, isManaged, isOpenShift, serverSecrets, untilDue } from '@slipway/fleet';
import {
  again,
  type Client,
  type Context,
  type ControllerDef,
  done,
  type Source,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { putSecret, textsIn, type DesiredSecret } from '../managed-secret.ts';
import { findInfrastructure, infrastructureSource } from '../sources.ts';
import { resolveApiServer, type ApiServerResult, formatJoiningKubeconfig } from './joining-kubeconfig.ts';

const KUBECONFIG_KEY = 'bootstrap-kubeconfig';
const ROOT_CA_NAME = 'kube-root-ca.crt';
const clusterInfo = { namespace: 'kube-public', name: 'cluster-info' };
const REQUEUE_MS = 3_600_000;

/**
 * Maintains the kubeconfig that new machines join with, and its bootstrap tokens, on clusters that provide none. A
 * token is in kube-system before any kubeconfig contains it, and is deleted only after it expired.
 */
export function bootstrapKubeconfigController(options: FirstBootOptions): ControllerDef {
  const { namespace } = options;
  return {
    name: KUBECONFIG_KEY,
    reads: listSources(namespace),
    owns: [{ resource: secrets }],
    startsWith: [KUBECONFIG_KEY],
    async reconcile(_, context) {
      const { client, write, now, read } = context;
      if (isOpenShift(findInfrastructure(read))) return done();
      const name = { namespace, name: serverSecrets.kubeconfig };
      const stored = await client.find(secrets, name);
      const found = await findTokens(client, namespace);
      const step = nextBootstrapTokens(found.tokens, now().getTime(), options.bootstrapTokenLifetime);
      if (stored === undefined || isManaged(stored)) {
        const apiServer = await findApiServer(client, options);
        if (!apiServer.ok) return reportMissing(apiServer.missing, context);
        const token = step.use ?? (await makeToken(context, options));
        const data = {
          kubeconfig: formatJoiningKubeconfig(apiServer.apiServer, token),
          'ca.crt': apiServer.apiServer.ca,
        };
        await putSecret(write, stored, { name, type: 'Opaque', data });
      }
      await removeTokens(write, found, step);
      return again(untilDue(step.due, now()));
    },
  };
}

function listSources(namespace: string): Source[] {
  const wake = { as: 'metadata', keysOf: () => [KUBECONFIG_KEY] } as const;
  return [
    { ...infrastructureSource, keysOf: () => [KUBECONFIG_KEY] },
    { ...wake, resource: secrets, namespace, fieldSelector: `metadata.name=${serverSecrets.kubeconfig}` },
    {
      ...wake,
      resource: secrets,
      namespace: BOOTSTRAP_NAMESPACE,
      labelSelector: `${BOOTSTRAP_TOKEN_LABEL}=${namespace}`,
    },
    { ...wake, resource: configMaps, namespace, fieldSelector: `metadata.name=${ROOT_CA_NAME}` },
    {
      ...wake,
      resource: configMaps,
      namespace: clusterInfo.namespace,
      fieldSelector: `metadata.name=${clusterInfo.name}`,
    },
  ];
}

async function findApiServer(client: Client, options: FirstBootOptions): Promise<ApiServerResult> {
  const info = await client.find(configMaps, clusterInfo);
  const root = await client.find(configMaps, { namespace: options.namespace, name: ROOT_CA_NAME });
  const { apiServerUrl, connection } = options;
  return resolveApiServer({
    apiServerUrl,
    connection: connection && { server: connection.server, ca: await connection.ca() },
    clusterInfo: info?.data?.['kubeconfig'],
    rootCa: root?.data?.['ca.crt'],
  });
}

function reportMissing(missing: 'address' | 'CA', { log }: Context) {
  const remediation =
    missing === 'address'
      ? 'Start the controller with --api-server-url https://HOST:PORT'
      : `Publish it in ConfigMap ${ROOT_CA_NAME} in Slipway's namespace, or in kube-public/cluster-info`;
  log.warn(
    `new machines get no kubeconfig: the API server's ${missing} is not known. ${remediation}, or make Secret ${serverSecrets.kubeconfig} with the keys kubeconfig and ca.crt yourself`,
  );
  return again(REQUEUE_MS);
}

interface StoredTokens {
  stored: Stored<Secret>[];
  tokens: BootstrapToken[];
}

async function findTokens(client: Client, namespace: string): Promise<StoredTokens> {
  const stored: Stored<Secret>[] = [];
  const labelSelector = `${BOOTSTRAP_TOKEN_LABEL}=${namespace}`;
  for await (const each of client.list(secrets, { namespace: BOOTSTRAP_NAMESPACE, labelSelector })) stored.push(each);
  return { stored, tokens: stored.flatMap((each) => readBootstrapToken(each) ?? []) };
}

async function makeToken({ write, log, now }: Context, options: FirstBootOptions): Promise<BootstrapToken> {
  const token = mintBootstrapToken(now(), options.bootstrapTokenLifetime);
  await putSecret(write, undefined, buildTokenSecret(token, options.namespace));
  // The id is not secret: it is part of the Secret's name.
  log.info(
    { id: token.id, expires: new Date(token.expires).toISOString() },
    'created a bootstrap token for new machines',
  );
  return token;
}

/** Also deletes unreadable tokens, which admit no machine. Kubernetes' token cleaner may delete them first. */
async function removeTokens(write: Writer, { stored, tokens }: StoredTokens, { remove }: BootstrapStep): Promise<void> {
  const good = new Set(tokens.filter(({ id }) => !remove.includes(id)).map(({ id }) => formatSecretName(id)));
  for (const each of stored.filter(({ metadata }) => !good.has(metadata.name))) {
    await write.remove(secrets, each);
  }
}

// The bootstrap tokens.

/** A token of ours that a kubelet authenticates with to the API server. */
export interface BootstrapToken {
  /** Six characters, not secret; also in the Secret's name. */
  id: string;
  /** Sixteen characters. */
  secret: string;
  /** Milliseconds since 1970. */
  expires: number;
}

export interface BootstrapStep {
  /** The token for machines that join now; undefined: create one. */
  use: BootstrapToken | undefined;
  /** The ids of expired tokens. */
  remove: string[];
  /** When to run next, including for a token that is created now. */
  due: number;
}

/** The clocks of controllers may differ. */
const MAX_SKEW_MS = 3_600_000;

/** Creates a token at half its lifetime, so that every machine gets one that is valid for at least that long. */
export function nextBootstrapTokens(kept: readonly BootstrapToken[], now: number, lifetime: number): BootstrapStep {
  const valid = kept.filter(({ expires }) => expires > now).toSorted((a, b) => b.expires - a.expires);
  // A later expiry is from a clock that was ahead: for new machines, it would live for longer than its lifetime.
  const newest = valid.find(({ expires }) => expires <= now + lifetime + MAX_SKEW_MS);
  const use = newest !== undefined && newest.expires - lifetime / 2 > now ? newest : undefined;
  return {
    use,
    remove: kept.filter(({ expires }) => expires <= now).map(({ id }) => id),
    due: Math.min(
      ...(use === undefined ? [now + lifetime / 2] : [use.expires - lifetime / 2]),
      ...valid.map(({ expires }) => expires),
    ),
  };
}

/** Where kube-apiserver reads them, and the names it requires. */
const BOOTSTRAP_NAMESPACE = 'kube-system';
const PREFIX = 'bootstrap-token-';
const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The value is Slipway's namespace that the tokens belong to. */
const BOOTSTRAP_TOKEN_LABEL = 'slipway.dev/bootstrap-token-of';
/** RBAC binds to this group: its members may request a node certificate, and nothing else. */
const BOOTSTRAP_GROUP = 'system:bootstrappers:slipway';

const formatSecretName = (id: string): string => `${PREFIX}${id}`;

function mintBootstrapToken(now: Date, lifetime: number): BootstrapToken {
  const draw = (length: number): string =>
    Array.from({ length }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
  // The API stores whole seconds.
  return { id: draw(6), secret: draw(16), expires: Math.ceil((now.getTime() + lifetime) / 1000) * 1000 };
}

const buildTokenSecret = ({ id, secret, expires }: BootstrapToken, namespace: string): DesiredSecret => ({
  name: { namespace: BOOTSTRAP_NAMESPACE, name: formatSecretName(id) },
  type: 'bootstrap.kubernetes.io/token',
  labels: { [BOOTSTRAP_TOKEN_LABEL]: namespace },
  data: {
    description: `New machines join with this token. Created by Slipway in namespace ${namespace}, and replaced before it expires.`,
    'token-id': id,
    'token-secret': secret,
    expiration: `${new Date(expires).toISOString().slice(0, 19)}Z`,
    'usage-bootstrap-authentication': 'true',
    'usage-bootstrap-signing': 'false',
    'auth-extra-groups': BOOTSTRAP_GROUP,
  },
});

const form = { id: /^[a-z0-9]{6}$/, secret: /^[a-z0-9]{16}$/ };

/** Undefined if kube-apiserver would not accept it either. */
function readBootstrapToken(stored: Secret): BootstrapToken | undefined {
  const fields = ['token-id', 'token-secret', 'expiration', 'usage-bootstrap-authentication'] as const;
  const data = textsIn(stored, fields);
  const { 'token-id': id = '', 'token-secret': secret = '' } = data;
  const expires = Date.parse(data.expiration ?? '');
  const isGood =
    form.id.test(id) &&
    form.secret.test(secret) &&
    !Number.isNaN(expires) &&
    data['usage-bootstrap-authentication'] === 'true' &&
    stored.metadata.name === formatSecretName(id);
  return isGood ? { id, secret, expires } : undefined;
}
