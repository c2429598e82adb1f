import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { pickFreePort } from '../controlplane/ports.ts';
import { writePrivateFile } from '../controlplane/private-file.ts';
import { terminalProgress, type Progress } from '../controlplane/progress.ts';
import { resolveIronic, type IronicProgram } from './environment.ts';
import { insertedIn, readHistory, type HistoryEntry } from './history.ts';
import { startPython, type PythonProgram } from './python-program.ts';

export interface Credentials {
  username: string;
  password: string;
}

export interface EmulatorOptions {
  /** The number of machines, or their names. */
  systems: number | readonly string[];
  credentials?: Credentials;
  /** How long a machine takes to power on or off. By default the emulator takes a random 1 to 11 s. */
  powerDelayMs?: number;
  program?: IronicProgram;
  progress?: Progress;
}

export interface EmulatedSystem {
  name: string;
  id: string;
  /** /redfish/v1/Systems/ID */
  path: string;
}

/** The medium in a drive: its URL, and the hash of its bytes. */
export interface HeldImage {
  image: string;
  sha256: string;
}

export interface RunningEmulator {
  /** http://127.0.0.1:PORT */
  url: string;
  port: number;
  /** Its data directory. */
  directory: string;
  credentials: Credentials;
  systems: readonly EmulatedSystem[];
  /** Everything that was done to a system, oldest first. */
  history(system: EmulatedSystem): Promise<HistoryEntry[]>;
  /** The medium in its drive; null: none. */
  held(system: EmulatedSystem): Promise<HeldImage | null>;
  /** As reported by the BMC. */
  powerState(system: EmulatedSystem): Promise<'On' | 'Off'>;
  /** Inserts the medium at this address, bypassing Ironic. */
  insert(system: EmulatedSystem, image: string): Promise<void>;
  /** Presses the power button, bypassing Ironic. */
  reset(system: EmulatedSystem, type: 'On' | 'ForceOff'): Promise<void>;
  /** From now on the BMC accepts only these credentials. */
  setCredentials(credentials: Credentials): Promise<void>;
  /** The BMC does not respond until it is started again. */
  kill(): Promise<void>;
  /** On the same port, with its previous state. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const BCRYPT_ROUNDS = 4;
const DEFAULT_DELAY_MS = 200;

/** A BMC on loopback for some machines that are powered off, with empty drives. It really fetches ISOs. */
export async function startRedfishEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const { powerDelayMs = DEFAULT_DELAY_MS, progress = terminalProgress() } = options;
  const program = options.program ?? (await resolveIronic({ progress }));
  const directory = await mkdtemp(join(tmpdir(), 'slipway-bmc-'));
  const historyFile = join(directory, 'history');
  const port = await pickFreePort();
  const url = `http://127.0.0.1:${port}`;
  const systems = buildSystems(options.systems);
  const credentials: Credentials = { username: 'admin', password: 'password', ...options.credentials };
  let running: PythonProgram | undefined;

  const requestJson = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown>> => {
    const login = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Basic ${login}`, 'content-type': 'application/json', connection: 'close' },
      signal: AbortSignal.timeout(10_000),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok)
      throw new Error(`the emulator responded to ${method} ${path} with ${answer.status}: ${text.slice(0, 500)}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  const setCredentials = async (next: Credentials) => {
    const line = `${next.username}:${await hash(next.password, BCRYPT_ROUNDS)}\n`;
    await writePrivateFile(join(directory, 'htpasswd'), line);
    Object.assign(credentials, next);
  };
  const start = async () => {
    const script = join(import.meta.dirname, 'emulator.py');
    const args = ['--config', join(directory, 'emulator.conf')];
    running = await startPython({ name: 'emulator', program, script, args, directory });
    const isReady = () =>
      requestJson('GET', '/redfish/v1/Systems')
        .then(() => true)
        .catch(() => false);
    await running.waitUntil(isReady, READY_MS);
  };
  const stop = async () => {
    await running?.kill();
    await rm(directory, { recursive: true, force: true });
  };
  const history = async ({ id }: EmulatedSystem) => {
    const all = readHistory(await readFile(historyFile, 'utf8').catch(() => ''));
    return all.filter(({ system }) => system === id);
  };

  try {
    await setCredentials(credentials);
    const settings = { port, directory, historyFile, powerDelayMs, systems };
    await writeFile(join(directory, 'emulator.conf'), configure(settings));
    progress.note(`BMC emulator on port ${port}: power changes take ${powerDelayMs} ms instead of a random 1 to 11 s`);
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    port,
    directory,
    credentials,
    systems,
    history,
    async held(system) {
      const inserted = insertedIn(await history(system));
      if (inserted === undefined) return null;
      const bytes = await readFile(inserted.path ?? '');
      return { image: inserted.value, sha256: createHash('sha256').update(bytes).digest('hex') };
    },
    async powerState({ path }) {
      return (await requestJson('GET', path))['PowerState'] === 'On' ? 'On' : 'Off';
    },
    async insert({ path }, image) {
      await requestJson('POST', `${path}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, { Image: image });
    },
    async reset({ path }, type) {
      await requestJson('POST', `${path}/Actions/ComputerSystem.Reset`, { ResetType: type });
    },
    setCredentials,
    async kill() {
      await running?.kill();
    },
    start,
    stop,
  };
}

function buildSystems(wanted: number | readonly string[]): EmulatedSystem[] {
  const names = typeof wanted === 'number' ? Array.from({ length: wanted }, (_, index) => `host-${index}`) : wanted;
  return names.map((name) => {
    const id = randomUUID();
    return { name, id, path: `/redfish/v1/Systems/${id}` };
  });
}

interface Settings {
  port: number;
  directory: string;
  historyFile: string;
  powerDelayMs: number;
  systems: readonly EmulatedSystem[];
}

/** The emulator reads Python, in which JSON strings and lists have the same syntax. */
function configure({ port, directory, historyFile, powerDelayMs, systems }: Settings): string {
  const fakes = systems.map(({ id, name }, index) => {
    const mac = `00:5c:52:31:${[index >> 8, index & 255].map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;
    return `{'uuid': '${id}', 'name': ${JSON.stringify(name)}, 'power_state': 'Off', 'external_notifier': False, 'nics': [{'mac': '${mac}', 'ip': '127.0.0.1'}]}`;
  });
  return [
    `SUSHY_EMULATOR_LISTEN_IP = '127.0.0.1'`,
    `SUSHY_EMULATOR_LISTEN_PORT = ${port}`,
    `SUSHY_EMULATOR_FAKE_DRIVER = True`,
    `SUSHY_EMULATOR_STATE_DIR = ${JSON.stringify(directory)}`,
    `SUSHY_EMULATOR_AUTH_FILE = ${JSON.stringify(join(directory, 'htpasswd'))}`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [${fakes.join(', ')}]`,
    `POWER_DELAY = ${powerDelayMs / 1000}`,
    `HISTORY = ${JSON.stringify(historyFile)}`,
    '',
  ].join('\n');
}
