import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request as plainRequest, type IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { hash } from 'bcryptjs';
import { ensureAuthority, ensureIdentity } from '../controlplane/certificates.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { pickFreePort } from '../controlplane/ports.ts';
import { writePrivateFile } from '../controlplane/private-file.ts';
import { run, RunError } from '../run.ts';
import { configure, placesIn } from './configuration.ts';
import { resolveIronic, type IronicProgram } from './environment.ts';
import { startPublishedImages } from './published-images.ts';
import { startPython, type PythonProgram } from './python-program.ts';

export interface IronicOptions {
  /** `basic`: name and password. By default no authentication, as Metal3 runs it. */
  auth?: 'none' | 'basic';
  /** By default Ironic speaks plain HTTP. */
  tls?: boolean;
  program?: IronicProgram;
}

/** How to connect to an Ironic: plain data, so that it can be passed to another process. */
export interface IronicAccess {
  /** http://127.0.0.1:PORT, without the version. */
  url: string;
  /** The authority of its certificate in PEM; empty for plain http. */
  ca: string;
  /** Empty if no authentication is required. */
  username: string;
  password: string;
}

export interface RunningIronic extends IronicAccess {
  /** Its data directory. */
  directory: string;
  /** Kills it immediately, in the middle of any work, until it is started again. */
  kill(): Promise<void>;
  /** On the same port, with its previous state. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

const READY_MS = 120_000;
// The minimum of bcrypt: Ironic computes it for every request.
const BCRYPT_ROUNDS = 4;

/** A real Ironic on loopback without nodes. It is ready when its conductor serves Redfish BMCs. */
export async function startIronic(options: IronicOptions = {}): Promise<RunningIronic> {
  const program = options.program ?? (await resolveIronic());
  const directory = await mkdtemp(join(tmpdir(), 'slipway-ironic-'));
  await mkdir(placesIn(directory).published);
  const images = await startPublishedImages(placesIn(directory).published);
  let running: PythonProgram | undefined;

  const stop = async () => {
    // Its data is removed as well: nothing is lost.
    await running?.kill();
    await images.stop();
    await rm(directory, { recursive: true, force: true });
  };
  const start = async (access: IronicAccess) => {
    const args = ['--config-file', placesIn(directory).configuration];
    running = await startPython({
      name: 'ironic',
      program,
      script: join(import.meta.dirname, 'conductor.py'),
      args,
      directory,
    });
    await running.waitUntil(() => hasConductor(access), READY_MS);
  };

  try {
    const access = await prepare(directory, images.url, options);
    await provideDatabase(program, directory);
    await start(access);
    return {
      ...access,
      directory,
      async kill() {
        await running?.kill();
      },
      start: () => start(access),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepare(
  directory: string,
  publishedUrl: string,
  { auth = 'none', tls = false }: IronicOptions,
): Promise<IronicAccess> {
  const at = placesIn(directory);
  const port = await pickFreePort();
  const account =
    auth === 'basic'
      ? { username: 'slipway', password: randomBytes(12).toString('hex') }
      : { username: '', password: '' };
  await writePrivateFile(at.passwords, `${account.username}:${await hash(account.password, BCRYPT_ROUNDS)}\n`);
  const authority = await ensureAuthority(join(directory, 'authority.pem'), 'slipway-ironic');
  await ensureIdentity(authority, at.identity, { commonName: 'ironic', hosts: ['127.0.0.1', 'localhost'] });
  await writeFile(at.configuration, configure({ directory, port, publishedUrl, auth, tls }));
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  return { url, ca: tls ? authority.certificate : '', ...account };
}

/** Creating one takes seconds, and all empty ones are equal. */
async function provideDatabase(program: IronicProgram, directory: string): Promise<void> {
  const { database } = placesIn(directory);
  const isThere = await copyFile(program.emptyDatabase, database).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await createDatabase(program, directory);
  const temporary = `${program.emptyDatabase}.${process.pid}.tmp`;
  await copyFile(database, temporary);
  await rename(temporary, program.emptyDatabase);
}

async function createDatabase(program: IronicProgram, directory: string): Promise<void> {
  const args = ['--config-file', placesIn(directory).configuration, 'create_schema'];
  try {
    await run(program.python, [join(program.bin, 'ironic-dbsync'), ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory, ...program.env },
      timeoutMs: READY_MS,
    });
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    throw new ToolsError('SLW_TOOLS_START_FAILED', `Ironic's database cannot be created: ${error.said.slice(-1000)}`);
  }
}

/** The API responds before the conductor has registered its drivers; until then no node can be created. */
async function hasConductor({ url, ca, username, password }: IronicAccess): Promise<boolean> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const options = { agent: false as const, timeout: 5000, headers: { authorization } };
  try {
    const asked =
      ca === '' ? plainRequest(`${url}/v1/drivers`, options) : tlsRequest(`${url}/v1/drivers`, { ...options, ca });
    asked.once('timeout', () => asked.destroy());
    const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage];
    return (await text(answer)).includes('"redfish"');
  } catch {
    return false;
  }
}
