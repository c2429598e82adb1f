import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ToolsError } from '../controlplane/errors.ts';
import { pickFreePort, requireFreePort } from '../controlplane/ports.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { configure } from './configuration.ts';

export interface NginxProgram {
  path: string;
  version: string;
  env: NodeJS.ProcessEnv;
}

/** Debian's nginx, out of the user's cache. */
export async function resolveNginx(options: DebianOptions = {}): Promise<NginxProgram> {
  const { directory, versions, libraryPath } = await unpackDebian([{ name: 'nginx', least: [1, 18, 0] }], options);
  return {
    path: join(directory, 'usr/sbin/nginx'),
    version: versions['nginx'] ?? '',
    env: { LD_LIBRARY_PATH: libraryPath },
  };
}

export interface NginxOptions {
  /** What it serves: bytes by path, such as `/config/worker`. */
  files: Readonly<Record<string, Uint8Array>>;
  /** PEM: the leaf first, then what leads to the CA. */
  certificate: string;
  key: string;
  /** A free one without it. */
  port?: number;
  workers?: number;
  program?: NginxProgram;
}

export interface Nginx {
  /** https://127.0.0.1:PORT */
  url: string;
  port: number;
  /** The master process and its workers, for whoever measures them. */
  pids(): Promise<number[]>;
  stop(): Promise<void>;
}

const READY_MS = 10_000;

/** nginx on this machine's loopback, with TLS, serving these bytes from files as it does anywhere. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { path, env } = options.program ?? (await resolveNginx());
  if (options.port !== undefined) await requireFreePort(options.port);
  const port = options.port ?? (await pickFreePort());
  const directory = await mkdtemp(join(tmpdir(), 'slipway-nginx-'));
  await prepare(directory, port, options);
  const child = spawn(path, ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = (log + text).slice(-4000);
  });
  let ended: string | undefined;
  const exit = once(child, 'close').then(
    ([code]) => (ended = `exit code ${String(code)}`),
    (error: Error) => (ended = error.message),
  );
  const stop = async () => {
    // Quickly: SIGTERM closes open connections.
    if (ended === undefined) child.kill('SIGTERM');
    await exit;
    await rm(directory, { recursive: true, force: true });
  };
  const until = Date.now() + READY_MS;
  while (!(await accepts(port))) {
    if (ended === undefined && Date.now() < until) {
      await delay(20);
      continue;
    }
    await stop();
    throw new ToolsError('SLW_TOOLS_START_FAILED', `nginx does not serve on port ${port} (${ended}): ${log.trim()}`);
  }
  return { url: `https://127.0.0.1:${port}`, port, stop, pids: () => family(child.pid ?? 0) };
}

async function prepare(directory: string, port: number, options: NginxOptions): Promise<void> {
  const { files, certificate, key, workers = 1 } = options;
  for (const [path, bytes] of Object.entries(files)) {
    const file = join(directory, 'root', path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
  }
  await mkdir(join(directory, 'temporary'));
  await writeFile(join(directory, 'tls.crt'), certificate);
  await writeFile(join(directory, 'tls.key'), key, { mode: 0o600 });
  // Started by root, its workers would become somebody who may not read this directory.
  const user = process.getuid?.() === 0 ? userInfo().username : undefined;
  await writeFile(join(directory, 'nginx.conf'), configure({ directory, port, workers, user }));
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

async function family(master: number): Promise<number[]> {
  const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
  return [master, ...children.trim().split(/\s+/).filter(Boolean).map(Number)];
}
