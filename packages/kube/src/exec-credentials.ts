import { spawn } from 'node:child_process';
import type { ClientCertificate, Credentials, Identity } from './credentials.ts';
import { KubeError } from './errors.ts';

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

const maximumOutput = 1024 * 1024;
/** Renew this long before the plugin's own end, so that no request is sent with a token about to end. */
const renewAheadMs = 30_000;

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
  const output = await outputOf(plugin, { ...plugin.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) }, timeLimitMs);
  return parseExecCredential(output, plugin);
}

function outputOf(plugin: ExecPlugin, env: Record<string, string>, timeLimitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, plugin.args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that what the plugin has started itself can be ended with it.
      detached: true,
    });
    let out = '';
    let complaint = '';
    const giveUp = (why: string): void => {
      clearTimeout(limit);
      reject(failure(plugin, why));
      // `close` would wait for every process that holds these.
      child.stdout.destroy();
      child.stderr.destroy();
      killGroup(child.pid);
    };
    const limit = setTimeout(() => giveUp(`did not answer within ${timeLimitMs / 1000} s`), timeLimitMs);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.length > maximumOutput) giveUp(`its answer is longer than ${maximumOutput} bytes`);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-2000);
    });
    child.on('error', (cause) => giveUp(`cannot be started: ${cause.message}`));
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      if (code === 0) resolve(out);
      else reject(failure(plugin, `ended with ${signal ?? `exit code ${code}`}: ${lastLine(complaint)}`));
    });
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Reads the plugin's answer. Nothing of it is repeated in an error: it is a secret. */
export function parseExecCredential(output: string, plugin: ExecPlugin): { identity: Identity; until: number } {
  const status = statusOf(output);
  if (status === undefined) throw failure(plugin, 'its answer is not an ExecCredential with a status');
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const certificate: ClientCertificate | undefined =
    typeof cert === 'string' && typeof key === 'string' ? { cert, key } : undefined;
  const hasToken = typeof token === 'string' && token !== '';
  if (!hasToken && certificate === undefined) {
    throw failure(plugin, 'its answer has neither status.token nor a client certificate');
  }
  const end = typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  return {
    identity: { token: hasToken ? token : undefined, certificate },
    until: Number.isNaN(end) ? 0 : end - renewAheadMs,
  };
}

function statusOf(output: string): Record<string, unknown> | undefined {
  try {
    const answer: unknown = JSON.parse(output);
    if (typeof answer !== 'object' || answer === null || !('status' in answer)) return undefined;
    return typeof answer.status === 'object' && answer.status !== null ? { ...answer.status } : undefined;
  } catch {
    return undefined;
  }
}

function failure(plugin: ExecPlugin, what: string): KubeError {
  const hint = plugin.installHint === undefined ? '' : ` Hint from the kubeconfig: ${plugin.installHint}`;
  return new KubeError(
    'SLW_KUBE_CREDENTIALS',
    `credential plugin ${plugin.command}: ${what}. Run it by hand to see what it needs.${hint}`,
  );
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
