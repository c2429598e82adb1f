import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { ToolsError } from '../controlplane/errors.ts';
import { pickFreePort, requireFreePort } from '../controlplane/ports.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { isListening, RunError, startService } from '../run.ts';
import { configure } from './configuration.ts';

export interface NginxProgram {
  path: string;
  version: string;
  env: NodeJS.ProcessEnv;
}

/** Debian's nginx, from the user's cache. */
export async function resolveNginx(options: DebianOptions = {}): Promise<NginxProgram> {
  const { directory, versions, libraryPath } = await unpackDebian([{ name: 'nginx', least: [1, 18, 0] }], options);
  return {
    path: join(directory, 'usr/sbin/nginx'),
    version: versions['nginx'] ?? '',
    env: { LD_LIBRARY_PATH: libraryPath },
  };
}

export interface NginxOptions {
  /** The served bytes by path, such as `/config/worker`. */
  files: Readonly<Record<string, Uint8Array>>;
  /** PEM: the leaf, then its intermediates. */
  certificate: string;
  key: string;
  /** By default a free one. */
  port?: number;
  workers?: number;
  program?: NginxProgram;
}

export interface Nginx {
  /** https://127.0.0.1:PORT */
  url: string;
  port: number;
  /** The master process and its workers, for measurements. */
  pids(): Promise<number[]>;
  stop(): Promise<void>;
}

const READY_MS = 10_000;

/** nginx on loopback, with TLS, serving these bytes from files. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { path, env } = options.program ?? (await resolveNginx());
  if (options.port !== undefined) await requireFreePort(options.port);
  const port = options.port ?? (await pickFreePort());
  const directory = await mkdtemp(join(tmpdir(), 'slipway-nginx-'));
  await prepare(directory, port, options);
  const service = startService(path, ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr'], { name: 'nginx', env });
  const stop = async () => {
    // Fast shutdown: SIGTERM closes open connections.
    await service.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await service.waitUntil(() => isListening(port), READY_MS);
  } catch (error) {
    await stop();
    if (!(error instanceof RunError)) throw error;
    throw new ToolsError('SLW_TOOLS_START_FAILED', `nginx does not serve on port ${port}: ${error.said}`);
  }
  return { url: `https://127.0.0.1:${port}`, port, stop, pids: () => family(service.pid) };
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
  // Started by root, its workers would switch to a user that cannot read this directory.
  const user = process.getuid?.() === 0 ? userInfo().username : undefined;
  await writeFile(join(directory, 'nginx.conf'), configure({ directory, port, workers, user }));
}

async function family(master: number): Promise<number[]> {
  const children = await readFile(`/proc/${master}/task/${master}/children`, 'utf8');
  return [master, ...children.trim().split(/\s+/).filter(Boolean).map(Number)];
}
