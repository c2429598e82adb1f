import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { fixedCredentials } from './credentials.ts';
import type { Credentials } from './credentials.ts';
import { KubeError } from './errors.ts';
import { inCluster } from './in-cluster.ts';
import { beside, invalid, listAt, objectAt, optionalString, pemField, stringField, wrong } from './kubeconfig-entry.ts';
import type { Entry } from './kubeconfig-entry.ts';
import { credentialsOf } from './kubeconfig-user.ts';

/** Everything needed to talk to one cluster. */
export interface ClusterAccess {
  /** For messages: where this was read from. */
  source: string;
  server: string;
  /** PEM bundle; undefined means the system's trusted CAs. */
  ca: string | undefined;
  tlsServerName: string | undefined;
  proxy: string | undefined;
  namespace: string;
  credentials: Credentials;
}

export interface AccessOptions {
  /** Path of a kubeconfig; else $KUBECONFIG, else the pod's own service account, else ~/.kube/config. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

const largestKubeconfig = 4 * 1024 * 1024;

export async function findAccess(
  options: AccessOptions = {},
  env: NodeJS.ProcessEnv = process.env,
): Promise<ClusterAccess> {
  if (options.kubeconfig !== undefined) return loadKubeconfig([options.kubeconfig], options.context);
  if (env.KUBECONFIG !== undefined && env.KUBECONFIG !== '') {
    const paths = env.KUBECONFIG.split(delimiter).filter((path) => path !== '' && existsSync(path));
    if (paths.length === 0) throw missing(`none of the files named by KUBECONFIG (${env.KUBECONFIG}) exists`);
    return loadKubeconfig(paths, options.context);
  }
  const pod = await inCluster(env);
  if (pod !== undefined) return pod;
  const usual = join(homedir(), '.kube', 'config');
  if (!existsSync(usual)) throw missing(`KUBECONFIG is not set, ${usual} does not exist, and this is not a pod`);
  return loadKubeconfig([usual], options.context);
}

const missing = (why: string): KubeError =>
  new KubeError('SLW_KUBE_CONFIG_MISSING', `no cluster to talk to: ${why}. Give --kubeconfig FILE`);

/** Several files are read as kubectl reads them: the first that names a cluster, user or context wins. */
export async function loadKubeconfig(paths: readonly string[], context?: string): Promise<ClusterAccess> {
  const files = await Promise.all(paths.map(readKubeconfigFile));
  return accessFrom(files, context);
}

export interface KubeconfigFile {
  path: string;
  content: unknown;
}

async function readKubeconfigFile(path: string): Promise<KubeconfigFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new KubeError('SLW_KUBE_CONFIG_MISSING', `kubeconfig ${path} cannot be read: ${String(cause)}`, { cause });
  }
  if (text.length > largestKubeconfig) {
    throw invalid(path, `is ${text.length} bytes long: expected at most ${largestKubeconfig}`);
  }
  try {
    // An empty file among several is one that says nothing.
    return { path, content: parseYaml(text, { maxAliasCount: 100, logLevel: 'error' }) ?? {} };
  } catch (error) {
    throw invalid(path, `expected YAML or JSON, found ${yamlProblem(error)}`);
  }
}

/** The parser's own message may quote the file, and the file holds secrets. */
function yamlProblem(error: unknown): string {
  if (!(error instanceof YAMLParseError)) return 'an alias (*name) that cannot be resolved';
  const [start] = error.linePos ?? [];
  return `a mistake${start === undefined ? '' : ` at line ${start.line}, column ${start.col}`} (${error.code})`;
}

export function accessFrom(files: readonly KubeconfigFile[], wanted?: string): ClusterAccess {
  const sources = files.map((file) => ({ path: file.path, root: objectAt(file.path, '', file.content) }));
  const source = sources.map((file) => file.path).join(delimiter);
  const contextName = wanted ?? firstString(sources, 'current-context');
  if (contextName === undefined) {
    throw invalid(source, 'current-context: expected the name of a context, found nothing. Give --context NAME');
  }
  const context = entry(sources, 'contexts', 'context', contextName, source);
  const cluster = entry(sources, 'clusters', 'cluster', stringField(context, 'cluster'), source);
  const userName = optionalString(context, 'user');
  const user = userName === undefined ? undefined : entry(sources, 'users', 'user', userName, source);
  return {
    source,
    server: serverOf(cluster),
    ca: caOf(cluster),
    tlsServerName: optionalString(cluster, 'tls-server-name'),
    proxy: proxyOf(cluster),
    namespace: optionalString(context, 'namespace') ?? 'default',
    credentials: user === undefined ? fixedCredentials({}, 'no user (anonymous)') : credentialsOf(user),
  };
}

function serverOf(cluster: Entry): string {
  const server = stringField(cluster, 'server');
  if (server.includes('@')) throw wrong(cluster, 'server', 'an address without user and password', 'an @ in it');
  if (!isAddress(server, /^https?:$/)) {
    throw wrong(cluster, 'server', 'an https:// address', JSON.stringify(server));
  }
  const { protocol, hostname } = new URL(server);
  if (protocol === 'http:' && !isThisMachine(hostname)) {
    const found = `${JSON.stringify(server)}: without TLS anybody on the way could read the credentials`;
    throw wrong(cluster, 'server', 'an https:// address, or http:// on this machine', found);
  }
  if (cluster.value['insecure-skip-tls-verify'] === true) {
    throw invalid(
      cluster.file,
      `${cluster.at}.insecure-skip-tls-verify: true is refused, because anybody on the way could then read and change what we send. Put the server's CA into certificate-authority-data`,
    );
  }
  return server.replace(/\/+$/, '');
}

/** `kubectl proxy` serves plain HTTP there, and nobody stands on the way. */
const isThisMachine = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);

const isAddress = (text: string, protocols: RegExp): boolean =>
  URL.canParse(text) && protocols.test(new URL(text).protocol);

/** Not repeated in an error: it may hold a password. */
function proxyOf(cluster: Entry): string | undefined {
  const proxy = optionalString(cluster, 'proxy-url');
  if (proxy === undefined || isAddress(proxy, /^https?:$/)) return proxy;
  throw wrong(cluster, 'proxy-url', 'an http:// or https:// address', 'something else');
}

function caOf(cluster: Entry): string | undefined {
  const data = optionalString(cluster, 'certificate-authority-data');
  if (data !== undefined) {
    const pem = pemField(cluster, 'certificate-authority-data', data);
    return certificateIn(pem, cluster, 'certificate-authority-data', 'base64 of a PEM certificate');
  }
  const path = optionalString(cluster, 'certificate-authority');
  if (path === undefined) return undefined;
  return certificateIn(caFile(cluster, path), cluster, 'certificate-authority', 'a file with a PEM certificate');
}

function certificateIn(pem: string, entry: Entry, field: string, expected: string): string {
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw wrong(entry, field, expected, 'something else');
  }
}

function caFile(cluster: Entry, path: string): string {
  const full = beside(cluster.file, path);
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
      typeof item === 'object' && item !== null && 'name' in item ? String(item.name) : '?',
    ),
  );
  throw invalid(source, `${list}: expected one named ${JSON.stringify(name)}, found ${known.join(', ') || 'none'}`);
}

function firstString(sources: readonly Source[], field: string): string | undefined {
  for (const { path, root } of sources) {
    const value = optionalString({ file: path, at: '', value: root }, field);
    if (value !== undefined && value !== '') return value;
  }
  return undefined;
}
