// Provisions a simulated machine, from its user data to a disk that its daemon can start on. The last step is a rename,
// so an interrupted attempt leaves nothing that could pass for a machine.
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { secrets } from '@slipway/api';
import { boolean, decode, object, withFallback } from '@slipway/base/codec';
import { ENCAPSULATED, type FileSystem, finishFirstBoot } from '@slipway/daemon';
import { buildDiskPlan, type DiskPlan, RENDERED_VERSION, type RenderedIgnition } from '@slipway/fleet';
import { type Fetcher, parse, type Report, resolve, translate } from '@slipway/ignition';
import type { Client, Log } from '@slipway/kube';
import { SimulatorError } from '../errors.ts';
import { writeFirstDisk } from '../host/first-disk.ts';
import { createSimulatedHost, makeSimulatedMachine } from '../host/simulated-host.ts';
import { type MachineName, simulatedDisk } from './simulated-machine.ts';

export interface ProvisionOptions {
  readonly client: Client;
  /** The namespace of the user data stubs. */
  readonly machineNamespace: string;
  readonly directory: string;
  /** Fetches the first config of a machine. */
  readonly fetch: Fetcher;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const STUB_WITHIN_MS = 60_000;
const STUB_EVERY_MS = 200;
const TIME_MS = 180_000;
/** The first boot itself gives up earlier. */
const MAX_BOOTS = 10;

/** Resolves to the directory of the machine. */
export async function provisionMachine({ name, pool }: MachineName, options: ProvisionOptions): Promise<string> {
  const { directory, fetch, signal } = options;
  const config = await fetchFirstConfig(name, await waitForUserData(pool, options), { fetch, signal });
  const plan = await buildDiskPlan(config);
  const staging = join(directory, `.${name}.unborn`);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  const files = simulatedDisk(staging);
  await makeSimulatedMachine(files, {
    kernelArguments: plan.kernelArguments.shouldExist,
    fips: readFips(plan),
    files: { '/etc/hostname': `${name}\n` },
  });
  await writeFirstDisk(createSimulatedHost({ root: staging, files }), plan);
  await runFirstBoot(name, staging, files, options);
  const root = join(directory, name);
  await rename(staging, root);
  return root;
}

const MAX_WRAPPER_CHARS = 8_000_000;
const wrapper = object({ spec: object({ fips: withFallback(boolean, false) }) });

/** CoreOS turns it on before anything else, from the wrapper of the first config. */
function readFips({ entries }: DiskPlan): boolean {
  const found = entries.find(({ path }) => path === ENCAPSULATED);
  if (found?.kind !== 'file') return false;
  const read = decode(wrapper, Buffer.from(found.bytes).toString(), { maxChars: MAX_WRAPPER_CHARS });
  return read.ok && read.value.spec.fips;
}

/** The user data for machines of this pool, which appears shortly after the pool. */
async function waitForUserData(pool: string, { client, machineNamespace, signal }: ProvisionOptions): Promise<string> {
  const name = { namespace: machineNamespace, name: `${pool}-user-data-managed` };
  const giveUpAt = performance.now() + STUB_WITHIN_MS;
  for (;;) {
    const { userData } = (await client.find(secrets, name, { signal }))?.data ?? {};
    if (userData !== undefined) return Buffer.from(userData, 'base64').toString('utf8');
    if (performance.now() > giveUpAt) throw noStub(name);
    await wait(STUB_EVERY_MS, undefined, { signal });
  }
}

const noStub = ({ namespace, name }: { namespace: string; name: string }): SimulatorError =>
  new SimulatorError(
    'SLW_CLI_BIRTH',
    `simulated machines cannot be created: expected the Secret ${namespace}/${name} with their user data, found none within ${STUB_WITHIN_MS / 1000} s. See the log of the controllers for the reason`,
  );

/** Rejects with a SimulatorError that names the machine. */
async function fetchFirstConfig(
  machine: string,
  userData: string,
  { fetch, signal }: { readonly fetch: Fetcher; readonly signal: AbortSignal },
): Promise<RenderedIgnition> {
  const stub = parse(userData);
  if (stub.config === null)
    throw cannotProvision(machine, `its user data is not an Ignition config: ${getFirstMessage(stub.report)}`);
  const resolved = await resolve(stub.config, {
    name: `user data of ${machine}`,
    fetch,
    // The server of `npm start` runs on this machine, which a config may normally not refer to.
    hosts: { allowAddresses: ['127.0.0.0/8', '::1/128'] },
    limits: { timeMs: TIME_MS },
    signal,
  });
  signal.throwIfAborted();
  if (resolved.config === null) throw cannotProvision(machine, getFirstMessage(resolved.report));
  const { config, report } = translate(resolved.config, RENDERED_VERSION);
  if (config === null) throw cannotProvision(machine, getFirstMessage(report));
  return config;
}

const getFirstMessage = (report: readonly { message: string }[] | Report): string =>
  report[0]?.message ?? 'no reason was given';

function cannotProvision(machine: string, why: string): SimulatorError {
  return new SimulatorError(
    'SLW_CLI_BIRTH',
    `simulated machine ${machine} cannot be created: ${why}. See the log of the server for its answer. \`npm start -- --fresh\` starts from scratch`,
  );
}

async function runFirstBoot(
  name: string,
  root: string,
  files: FileSystem,
  { log, signal }: ProvisionOptions,
): Promise<void> {
  for (let boots = 0; boots < MAX_BOOTS; boots += 1) {
    const host = createSimulatedHost({ root, files });
    const result = await finishFirstBoot({ host, log, signal });
    log.info({ node: name, result }, 'first boot');
    if (result.type !== 'rebooting') return;
  }
}
