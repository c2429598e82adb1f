import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { ensureAuthority, ensureIdentity } from '../controlplane/certificates.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { pickFreePort } from '../controlplane/ports.ts';
import { writePrivateFile } from '../controlplane/private-file.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { isListening, RunError, startService } from '../run.ts';
import { configure } from './configuration.ts';
import { readRequests, type LoggedRequest } from './request-log.ts';
import { startTokenServer, type TokenServer } from './token-server.ts';

export interface RegistryProgram {
  path: string;
  version: string;
  env: NodeJS.ProcessEnv;
}

/** Debian's docker-registry, from the user's cache. */
export async function resolveRegistry(options: DebianOptions = {}): Promise<RegistryProgram> {
  // 2.7 is the first version that accepts OCI images.
  const packages = [{ name: 'docker-registry', least: [2, 7, 0] as const }];
  const { directory, versions, libraryPath } = await unpackDebian(packages, options);
  return {
    path: join(directory, 'usr/bin/docker-registry'),
    version: versions['docker-registry'] ?? '',
    env: { LD_LIBRARY_PATH: libraryPath },
  };
}

export interface RegistryOptions {
  /** By default the registry speaks plain HTTP. */
  tls?: boolean;
  /** `basic`: name and password. `bearer`: a token, which another server issues for them. */
  auth?: 'basic' | 'bearer' | 'none';
  program?: RegistryProgram;
}

/** How to connect to a registry. */
export interface RegistryAccess {
  /** 127.0.0.1:PORT, the start of image references. */
  host: string;
  url: string;
  /** The authority of its certificate in PEM; empty for plain http. */
  ca: string;
  username: string;
  password: string;
}

export interface RunningRegistry extends RegistryAccess {
  port: number;
  /** Its data directory. */
  directory: string;
  /** Completed requests so far, including pushes. A request appears soon after its response, not before. */
  requests(): LoggedRequest[];
  /** The scopes of issued tokens, if auth is `bearer`. */
  tokenScopes(): readonly string[];
  /** Stops it and removes all its images. */
  stop(): Promise<void>;
}

const READY_MS = 10_000;
// The minimum of bcrypt: the registry computes it for every request.
const BCRYPT_ROUNDS = 4;

/** An empty registry on loopback, with TLS and a password by default. */
export async function startRegistry(options: RegistryOptions = {}): Promise<RunningRegistry> {
  const { path, env } = options.program ?? (await resolveRegistry());
  const directory = await mkdtemp(join(tmpdir(), 'slipway-registry-'));
  const prepared = await prepare(directory, options);
  const { port, access, tokens } = prepared;
  const service = startService(path, ['serve', join(directory, 'config.yml')], {
    name: 'docker-registry',
    env,
    // Complete: tests read the requests from it.
    logChars: Infinity,
  });
  const stop = async () => {
    await service.stop();
    await tokens?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await service.waitUntil(() => isListening(port), READY_MS);
  } catch (error) {
    await stop();
    if (!(error instanceof RunError)) throw error;
    throw new ToolsError(
      'SLW_TOOLS_START_FAILED',
      `docker-registry does not serve on port ${port}: ${error.said.slice(-1000)}`,
    );
  }
  return {
    ...access,
    port,
    directory,
    requests: () => readRequests(service.log()),
    tokenScopes: () => tokens?.given ?? [],
    stop,
  };
}

interface Prepared {
  port: number;
  access: RegistryAccess;
  tokens: TokenServer | undefined;
}

async function prepare(directory: string, { tls = true, auth = 'basic' }: RegistryOptions): Promise<Prepared> {
  const port = await pickFreePort();
  const account = { username: 'puller', password: randomBytes(12).toString('hex') };
  const authority = await ensureAuthority(join(directory, 'authority.pem'), 'slipway-registry');
  const identity = await ensureIdentity(authority, join(directory, 'server.pem'), {
    commonName: 'registry',
    hosts: ['127.0.0.1', 'localhost'],
  });
  await writeFile(join(directory, 'authority.crt'), authority.certificate);
  const line = `${account.username}:${await hash(account.password, BCRYPT_ROUNDS)}\n`;
  await writePrivateFile(join(directory, 'htpasswd'), line);
  const tokens = auth === 'bearer' ? await startTokenServer(identity, account) : undefined;
  await writeFile(join(directory, 'config.yml'), configure({ directory, port, tls, auth, tokens }));
  const host = `127.0.0.1:${port}`;
  const access = { host, url: `${tls ? 'https' : 'http'}://${host}`, ca: tls ? authority.certificate : '', ...account };
  return { port, access, tokens };
}
