import { spawn } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { KubeError } from './errors.ts';
import { type FileOptions, type WatchedFile, watchFile } from './watched-file.ts';

export interface ClientCertificate {
  cert: string;
  key: string;
}

export interface Identity {
  token?: string | undefined;
  certificate?: ClientCertificate | undefined;
}

/** Identifies this process to the API server. Read before every request, so it must be cheap while nothing changes. */
export interface Credentials {
  current(): Promise<Identity>;
  /** The server responded 401: fetch new credentials if possible. */
  refresh(): Promise<void>;
  /** For messages: the origin of the credentials, without any secret. */
  readonly source: string;
}

export function fixedCredentials(identity: Identity, source: string): Credentials {
  return { source, current: async () => identity, refresh: async () => {} };
}

const MAX_FILE_BYTES = 1024 * 1024;

const watchCredentials = (path: string, options: FileOptions): WatchedFile =>
  watchFile(
    path,
    { ...options, maxBytes: MAX_FILE_BYTES },
    (cause) =>
      new KubeError('SLW_KUBE_CREDENTIALS', `credentials file ${path} cannot be read: ${String(cause)}`, { cause }),
  );

export function tokenFileCredentials(path: string, options: FileOptions = {}): Credentials {
  const file = watchCredentials(path, options);
  let last: string | undefined;

  async function readToken(): Promise<string> {
    const token = (await file.read()).trim();
    if (token !== '') return token;
    throw new KubeError('SLW_KUBE_CREDENTIALS', `token file ${path} is empty: expected a bearer token`);
  }

  return {
    source: `token file ${path}`,
    async current() {
      last = await readToken().catch(orLast(last));
      return { token: last };
    },
    async refresh() {
      file.forget();
    },
  };
}

export function certificateFileCredentials(certPath: string, keyPath: string, options: FileOptions = {}): Credentials {
  const cert = watchCredentials(certPath, options);
  const key = watchCredentials(keyPath, options);
  let last: ClientCertificate | undefined;
  return {
    source: `client certificate ${certPath}`,
    async current() {
      const read = await readPair().catch(orLast(last));
      // Returns the same object until a file changes: the transport opens new connections for a new object.
      if (last?.cert === read.cert && last.key === read.key) return { certificate: last };
      if (belongTogether(read)) last = read;
      else {
        // One of the two files has been replaced, and the other follows within moments.
        forget();
        if (last === undefined) {
          const text = `${keyPath}: expected the private key of the certificate in ${certPath}, found another one or none`;
          throw new KubeError('SLW_KUBE_CREDENTIALS', text);
        }
      }
      return { certificate: last };
    },
    async refresh() {
      forget();
    },
  };

  async function readPair(): Promise<ClientCertificate> {
    return { cert: await cert.read(), key: await key.read() };
  }

  function forget(): void {
    cert.forget();
    key.forget();
  }
}

/** A file that is missing or empty is being replaced. If it stays so, the API server refuses what was read last. */
const orLast =
  <T>(last: T | undefined) =>
  (error: unknown): T => {
    if (last === undefined) throw error;
    return last;
  };

export function belongTogether({ cert, key }: ClientCertificate): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** A user may have both a token and a client certificate. Both are sent, as kubectl does. */
export function bothCredentials(token: Credentials, certificate: Credentials): Credentials {
  return {
    source: `${token.source} and ${certificate.source}`,
    async current() {
      return { ...(await token.current()), certificate: (await certificate.current()).certificate };
    },
    async refresh() {
      await Promise.all([token.refresh(), certificate.refresh()]);
    },
  };
}

/** Expiry of a JWT; undefined if it has none or is not a JWT. The signature is not verified. */
export function tokenExpiry(token: string): Date | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return undefined;
    // Dates end at 8.64e15 ms.
    return typeof claims.exp === 'number' && Math.abs(claims.exp) <= 8.64e12 ? new Date(claims.exp * 1000) : undefined;
  } catch {
    return undefined;
  }
}

export interface ExecPlugin {
  apiVersion: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  installHint: string | undefined;
}

export interface ExecOptions {
  timeLimitMs?: number | undefined;
}

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Renew this long before the plugin's expiry, so that no request carries a token that is about to expire. */
const RENEW_AHEAD_MS = 30_000;

/** Credentials from a client-go credential plugin (kubeconfig `user.exec`). */
export function execCredentials(plugin: ExecPlugin, { timeLimitMs = 60_000 }: ExecOptions = {}): Credentials {
  let cached: { identity: Identity; until: number } | undefined;
  let running: Promise<{ identity: Identity; until: number }> | undefined;

  const renew = async (): Promise<void> => {
    running ??= run(plugin, timeLimitMs).finally(() => {
      running = undefined;
    });
    cached = await running;
  };

  return {
    source: `credential plugin ${plugin.command}`,
    async current() {
      if (cached === undefined || Date.now() >= cached.until) await renew();
      return cached?.identity ?? {};
    },
    refresh: renew,
  };
}

async function run(plugin: ExecPlugin, timeLimitMs: number): Promise<{ identity: Identity; until: number }> {
  const info = { apiVersion: plugin.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const output = await runPlugin(plugin, { ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }, timeLimitMs);
  return parseExecCredential(output, plugin);
}

function runPlugin(plugin: ExecPlugin, env: Record<string, string>, timeLimitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that processes the plugin started are killed with it.
      detached: true,
    });
    let out = '';
    let complaint = '';
    const giveUp = (why: string): void => {
      clearTimeout(limit);
      reject(failure(plugin, why));
      // `close` would wait for every process that inherited these pipes.
      child.stdout.destroy();
      child.stderr.destroy();
      killGroup(child.pid);
    };
    const limit = setTimeout(() => giveUp(`did not answer within ${timeLimitMs / 1000} s`), timeLimitMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > MAX_OUTPUT_BYTES) giveUp(`its output is longer than ${MAX_OUTPUT_BYTES} bytes`);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    child.on('error', (cause) => giveUp(`cannot be started: ${cause.message}`));
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      if (code === 0) resolve(out);
      else reject(failure(plugin, `exited with ${signal ?? `code ${code}`}: ${lastLine(complaint)}`));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}

/** Parses the plugin's output. Errors never quote it: it is a secret. */
export function parseExecCredential(output: string, plugin: ExecPlugin): { identity: Identity; until: number } {
  const status = parseStatus(output);
  if (status === undefined) throw failure(plugin, 'its output is not an ExecCredential with a status');
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const certificate: ClientCertificate | undefined =
    typeof cert === 'string' && typeof key === 'string' ? { cert, key } : undefined;
  const hasToken = typeof token === 'string' && token !== '';
  if (!hasToken && certificate === undefined) {
    throw failure(plugin, 'its output has neither status.token nor a client certificate');
  }
  const end = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  return {
    identity: { token: hasToken ? token : undefined, certificate },
    until: Number.isNaN(end) ? 0 : end - RENEW_AHEAD_MS,
  };
}

function parseStatus(output: string): Record<string, unknown> | undefined {
  try {
    const answer: unknown = JSON.parse(output);
    if (typeof answer !== 'object' || answer === null || !('status' in answer)) return undefined;
    return typeof answer.status === 'object' && answer.status !== null ? { ...answer.status } : undefined;
  } catch {
    return undefined;
  }
}

function failure(plugin: ExecPlugin, what: string): KubeError {
  const hint = plugin.installHint === undefined ? '' : ` The kubeconfig suggests: ${plugin.installHint}`;
  return new KubeError(
    'SLW_KUBE_CREDENTIALS',
    `credential plugin ${plugin.command}: ${what}. Run it manually to see what it needs.${hint}`,
  );
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
