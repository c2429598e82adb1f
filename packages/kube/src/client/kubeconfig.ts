import { readFileSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { isRecord } from '@slipway/base/json';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import type { ClusterAccess } from './access.ts';
import { authoritiesFile, isAuthorities } from './authorities.ts';
import {
  belongTogether,
  bothCredentials,
  certificateFileCredentials,
  type Credentials,
  execCredentials,
  fixedCredentials,
  tokenFileCredentials,
} from './credentials.ts';
import { KubeError } from './errors.ts';
import { type FileOptions, type WatchedFile, watchFile } from './watched-file.ts';

const MAX_KUBECONFIG_BYTES = 4 * 1024 * 1024;

/**
 * Merges several files as kubectl does: the first file to define a cluster, user or context wins. The CA and the
 * credentials follow the files when they are replaced; the context and the address of the server do not.
 */
export async function loadKubeconfig(
  paths: readonly string[],
  context?: string,
  options: FileOptions = {},
): Promise<ClusterAccess> {
  const files = paths.map((path) => ({ path, file: watchKubeconfig(path, options) }));
  const readAll = (): Promise<string[]> => Promise.all(files.map(({ file }) => file.read()));
  const parseAll = (texts: readonly string[]): KubeconfigFile[] =>
    files.map(({ path }, index) => ({ path, content: parseKubeconfig(path, texts[index] ?? '') }));
  let texts = await readAll();
  const first = parseAll(texts);
  // `kubectl config use-context` changes the file for the next program, not for those that run.
  const chosen = context ?? readCurrentContext(first);
  const loaded = accessFrom(first, chosen, options);
  let current = loaded;

  async function latest(): Promise<ClusterAccess> {
    // Called twice for each request. A text that could not be used is not in `texts`: it is parsed again.
    if (files.every(({ file }, index) => file.recent() === texts[index])) return current;
    try {
      const found = await readAll();
      if (found.some((text, index) => text !== texts[index])) {
        const next = accessFrom(parseAll(found), chosen, options);
        texts = found;
        // These credentials are for another server, which is not the one that we are connected to.
        if (next.server === loaded.server) current = next;
      }
    } catch {
      // Half written, or it names a file that is not there yet: it is parsed again at the next request. If it stays so,
      // the API server will refuse what was read last, by name.
    }
    return current;
  }

  return {
    ...loaded,
    ca: async () => (await latest()).ca(),
    credentials: {
      source: loaded.credentials.source,
      current: async () => (await latest()).credentials.current(),
      async refresh() {
        for (const { file } of files) file.forget();
        await (await latest()).credentials.refresh();
      },
    },
  };
}

export interface KubeconfigFile {
  path: string;
  content: unknown;
}

const watchKubeconfig = (path: string, options: FileOptions): WatchedFile =>
  watchFile(path, { ...options, maxBytes: MAX_KUBECONFIG_BYTES }, (cause) =>
    cause instanceof RangeError
      ? invalid(path, cause.message)
      : new KubeError('SLW_KUBE_CONFIG_MISSING', `kubeconfig ${path} cannot be read: ${String(cause)}`, { cause }),
  );

function parseKubeconfig(path: string, text: string): unknown {
  try {
    // An empty file among several contributes nothing.
    return parseYaml(text, { maxAliasCount: 100, logLevel: 'error' }) ?? {};
  } catch (error) {
    throw invalid(path, `expected YAML or JSON, found ${yamlProblem(error)}`);
  }
}

/** The parser's message may quote the file, which contains secrets. */
function yamlProblem(error: unknown): string {
  if (!(error instanceof YAMLParseError)) return 'an alias (*name) that cannot be resolved';
  const [start] = error.linePos ?? [];
  const what = error.code === 'DUPLICATE_KEY' ? 'a key that appears twice' : 'a syntax error';
  return `${what}${start === undefined ? '' : ` at line ${start.line}`}`;
}

export function accessFrom(
  files: readonly KubeconfigFile[],
  wanted?: string,
  options: FileOptions = {},
): ClusterAccess {
  const sources = files.map(toSource);
  const source = sources.map((file) => file.path).join(delimiter);
  const contextName = wanted ?? firstString(sources, 'current-context');
  if (contextName === undefined) {
    throw invalid(source, 'current-context: expected the name of a context, found nothing. Pass --context NAME');
  }
  const context = entry(sources, 'contexts', 'context', contextName, source);
  const cluster = entry(sources, 'clusters', 'cluster', stringField(context, 'cluster'), source);
  const userName = optionalString(context, 'user');
  const user = userName === undefined ? undefined : entry(sources, 'users', 'user', userName, source);
  return {
    source,
    server: readServer(cluster),
    ca: readCa(cluster, options),
    tlsServerName: optionalString(cluster, 'tls-server-name'),
    proxy: readProxy(cluster),
    namespace: optionalString(context, 'namespace') ?? 'default',
    credentials: user === undefined ? fixedCredentials({}, 'no user (anonymous)') : readCredentials(user, options),
  };
}

const readCurrentContext = (files: readonly KubeconfigFile[]): string | undefined =>
  firstString(files.map(toSource), 'current-context');

const toSource = ({ path, content }: KubeconfigFile): Source => ({ path, root: objectAt(path, '', content) });

function readServer(cluster: Entry): string {
  const server = stringField(cluster, 'server');
  if (server.includes('@')) throw wrong(cluster, 'server', 'an address without user and password', 'one with an @');
  if (!isAddress(server, /^https?:$/)) {
    throw wrong(cluster, 'server', 'an https:// address', JSON.stringify(server));
  }
  const { protocol, hostname } = new URL(server);
  if (protocol === 'http:' && !isThisMachine(hostname)) {
    const found = `${JSON.stringify(server)}: without TLS, anyone on the network could read the credentials`;
    throw wrong(cluster, 'server', 'an https:// address, or http:// on this machine', found);
  }
  if (cluster.value['insecure-skip-tls-verify'] === true) {
    throw invalid(
      cluster.file,
      `${cluster.at}.insecure-skip-tls-verify: true is not allowed, because anyone on the network could read and change the traffic. Add the server's CA to certificate-authority-data`,
    );
  }
  return server.replace(/\/+$/, '');
}

/** `kubectl proxy` serves plain HTTP on loopback, where no traffic can be intercepted. */
const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

const isAddress = (text: string, protocols: RegExp): boolean =>
  URL.canParse(text) && protocols.test(new URL(text).protocol);

/** Errors do not quote it: it may contain a password. */
function readProxy(cluster: Entry): string | undefined {
  const proxy = optionalString(cluster, 'proxy-url');
  if (proxy === undefined || isAddress(proxy, /^https?:$/)) return proxy;
  throw wrong(cluster, 'proxy-url', 'an http:// or https:// address', 'something else');
}

function readCa(cluster: Entry, options: FileOptions): ClusterAccess['ca'] {
  const data = optionalString(cluster, 'certificate-authority-data');
  if (data !== undefined) {
    const pem = pemField(cluster, 'certificate-authority-data', data);
    checkAuthorities(pem, cluster, 'certificate-authority-data', 'base64 of PEM certificates');
    return async () => pem;
  }
  const path = optionalString(cluster, 'certificate-authority');
  if (path === undefined) return async () => undefined;
  const pem = caFile(cluster, path);
  checkAuthorities(pem, cluster, 'certificate-authority', 'a file with PEM certificates');
  return authoritiesFile(resolveRelative(cluster.file, path), pem, options);
}

function checkAuthorities(pem: string, entry: Entry, field: string, expected: string): void {
  if (!isAuthorities(pem)) throw wrong(entry, field, expected, 'something else');
}

function caFile(cluster: Entry, path: string): string {
  const full = resolveRelative(cluster.file, path);
  try {
    return readFileSync(full, 'utf8');
  } catch (cause) {
    throw wrong(
      cluster,
      'certificate-authority',
      'a file with the CA',
      `${full}, which cannot be read: ${String(cause)}`,
    );
  }
}

interface Source {
  path: string;
  root: Record<string, unknown>;
}

function entry(sources: readonly Source[], list: string, field: string, name: string, source: string): Entry {
  for (const { path, root } of sources) {
    const items = listAt({ file: path, at: '', value: root }, list);
    for (const [index, item] of items.entries()) {
      const named = objectAt(path, `${list}[${index}]`, item);
      if (named['name'] !== name) continue;
      const at = `${list}[${index}].${field}`;
      return { file: path, at, value: objectAt(path, at, named[field]) };
    }
  }
  const known = sources.flatMap(({ path, root }) =>
    listAt({ file: path, at: '', value: root }, list).map((item) =>
      isRecord(item) && 'name' in item ? String(item['name']) : '?',
    ),
  );
  throw invalid(
    source,
    `${list}: expected an entry named ${JSON.stringify(name)}, found ${known.join(', ') || 'none'}`,
  );
}

function firstString(sources: readonly Source[], field: string): string | undefined {
  for (const { path, root } of sources) {
    const value = optionalString({ file: path, at: '', value: root }, field);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}

/** Credentials of a `user` in a kubeconfig. */
function readCredentials(user: Entry, options: FileOptions): Credentials {
  for (const [field, why] of Object.entries(refusedFields)) {
    if (user.value[field] !== undefined) throw invalid(user.file, `${user.at}.${field}: ${why}`);
  }
  const token = readToken(user, options);
  const certificate = readCertificate(user, options);
  if (token !== undefined && certificate !== undefined) return bothCredentials(token, certificate);
  return token ?? certificate ?? fixedCredentials({}, `no credentials in ${user.file} (anonymous)`);
}

const GONE_REMEDIATION = 'Kubernetes no longer supports this login method. Use a token, a client certificate or exec';
/** Ignoring these fields would send requests under another identity than the one the user configured. */
const IMPERSONATION = 'impersonation is not supported. Use a kubeconfig with the credentials of that identity';
const refusedFields: Readonly<Record<string, string>> = {
  'auth-provider': GONE_REMEDIATION,
  username: GONE_REMEDIATION,
  password: GONE_REMEDIATION,
  as: IMPERSONATION,
  'as-uid': IMPERSONATION,
  'as-groups': IMPERSONATION,
  'as-user-extra': IMPERSONATION,
};

function readToken(user: Entry, options: FileOptions): Credentials | undefined {
  const tokenFile = optionalString(user, 'tokenFile');
  if (tokenFile !== undefined) return tokenFileCredentials(resolveRelative(user.file, tokenFile), options);
  const token = optionalString(user, 'token');
  if (token !== undefined) return fixedCredentials({ token }, `token in ${user.file}`);
  return user.value['exec'] === undefined || user.value['exec'] === null ? undefined : readExec(user);
}

function readCertificate(user: Entry, options: FileOptions): Credentials | undefined {
  const certData = optionalString(user, 'client-certificate-data');
  const keyData = optionalString(user, 'client-key-data');
  if (certData !== undefined && keyData !== undefined) {
    const certificate = {
      cert: pemField(user, 'client-certificate-data', certData),
      key: pemField(user, 'client-key-data', keyData),
    };
    if (!belongTogether(certificate)) {
      throw wrong(user, 'client-key-data', 'the private key of client-certificate-data', 'another key or none');
    }
    return fixedCredentials({ certificate }, `client certificate in ${user.file}`);
  }
  const cert = optionalString(user, 'client-certificate');
  const key = optionalString(user, 'client-key');
  if (cert !== undefined && key !== undefined) {
    return certificateFileCredentials(resolveRelative(user.file, cert), resolveRelative(user.file, key), options);
  }
  if ([certData, keyData, cert, key].some((part) => part !== undefined)) {
    throw invalid(
      user.file,
      `${user.at}: expected both a client certificate and its key, in the same form, found only one of them`,
    );
  }
  return undefined;
}

function readExec(user: Entry): Credentials {
  const value = objectAt(user.file, `${user.at}.exec`, user.value['exec']);
  const exec: Entry = { file: user.file, at: `${user.at}.exec`, value };
  if (value['interactiveMode'] === 'Always') {
    throw invalid(
      user.file,
      `${exec.at}.interactiveMode: Always is not supported, because the plugin cannot prompt a user here`,
    );
  }
  const command = stringField(exec, 'command');
  return execCredentials({
    apiVersion: optionalString(exec, 'apiVersion') ?? 'client.authentication.k8s.io/v1',
    command: command.includes('/') ? resolveRelative(user.file, command) : command,
    args: listAt(exec, 'args').map((arg, index) => stringAt(exec, `args[${index}]`, arg)),
    env: Object.fromEntries(listAt(exec, 'env').map((item, index) => readEnvVar(exec, item, index))),
    installHint: optionalString(exec, 'installHint'),
  });
}

function readEnvVar(exec: Entry, item: unknown, index: number): [string, string] {
  const at = `${exec.at}.env[${index}]`;
  const variable: Entry = { file: exec.file, at, value: objectAt(exec.file, at, item) };
  return [stringField(variable, 'name'), optionalString(variable, 'value') ?? ''];
}

/** One entry of clusters, users or contexts and the file that contains it (its relative paths start there). */
interface Entry {
  file: string;
  at: string;
  value: Record<string, unknown>;
}

const resolveRelative = (file: string, path: string): string => resolve(dirname(file), path);

function objectAt(file: string, at: string, value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw wrong({ file, at, value: {} }, '', 'an object', describeKind(value));
}

function listAt(entry: Entry, field: string): unknown[] {
  const value = entry.value[field];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(entry, field, 'a list', describeKind(value));
}

function stringAt(entry: Entry, field: string, value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrong(entry, field, 'a string', describeKind(value));
}

const stringField = (entry: Entry, field: string): string => stringAt(entry, field, entry.value[field]);

function optionalString(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  return value === undefined || value === null || value === '' ? undefined : stringAt(entry, field, value);
}

function pemField(entry: Entry, field: string, base64: string): string {
  const pem = Buffer.from(base64, 'base64').toString('utf8');
  if (pem.includes('-----BEGIN ')) return pem;
  throw wrong(entry, field, 'base64 of PEM data', 'something else');
}

const describeKind = (value: unknown): string => {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

const wrong = (entry: Entry, field: string, expected: string, found: string): KubeError =>
  invalid(
    entry.file,
    `${[entry.at, field].filter(Boolean).join('.') || 'the file'}: expected ${expected}, found ${found}`,
  );

const invalid = (file: string, what: string): KubeError =>
  new KubeError('SLW_KUBE_CONFIG_INVALID', `kubeconfig ${file}: ${what}`);
