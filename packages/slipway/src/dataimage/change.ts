// The commands attach and detach.
import { type BareMetalHost, dataImages } from '@slipway/api';
import { driveEntry, type HostEntry, hostEntry, isInDrive } from '@slipway/fleet/reports';
import { anyVersion, type Client, type Stored } from '@slipway/kube';
import { createCliWriter } from '../cli/cluster.ts';
import { CommandError } from '../cli/errors.ts';
import { type Io, toJson, write } from '../cli/io.ts';
import { type ClusterOptions, stopSignal } from '../cli/program.ts';
import { withCluster } from '../cli/run.ts';
import { safeText } from '../cli/terminal.ts';
import {
  requestReboot,
  findHost,
  getHost,
  type HostName,
  knowing,
  needsReboot,
  noSuchHost,
  writeDataImage,
} from './data-image.ts';
import { checkImageUrl, checkIso } from './iso.ts';
import { waitForDrive } from './wait.ts';

interface ChangeOptions extends ClusterOptions {
  namespace: string;
  reboot?: boolean;
  wait?: boolean;
  /** Seconds. */
  timeout: number;
  output: 'text' | 'json';
}

export interface AttachOptions extends ChangeOptions {
  immediate?: boolean;
  check: boolean;
}

export async function runAttach(name: string, url: string, options: AttachOptions, io: Io): Promise<void> {
  if (options.immediate === true && options.reboot === true) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      'slipway dataimage attach: expected at most one of --immediate (attach without a reboot) and --reboot, found both',
    );
  }
  const parsed = checkImageUrl(url);
  await withCluster(options, io, async (client) => {
    const host = { namespace: options.namespace, name };
    const warnings = options.check ? await warnAboutIso(client, host, parsed, io) : [];
    const outcome = await attach(client, host, { url, warnings }, options);
    await writeResultAndWait(client, outcome, `${url} is attached to ${host.namespace}/${name}.`, options, io);
  });
}

/** Warns before anything is written, while Ctrl-C still helps. */
async function warnAboutIso(client: Client, host: HostName, url: URL, io: Io): Promise<string[]> {
  // Fails first if the host does not exist.
  await getHost(client, host);
  const checked = await checkIso(url);
  if (checked.ok) return [];
  const warning = `${url.href} ${checked.problem}. Ironic and the BMC may have other network access, so it is requested anyway. To skip this check: --no-check`;
  await write(io.stderr, `warning: ${safeText(warning)}\n`);
  return [warning];
}

async function attach(
  client: Client,
  name: HostName,
  { url, warnings }: { url: string; warnings: readonly string[] },
  { immediate = false, reboot = false }: AttachOptions,
): Promise<DriveChangeResult> {
  const host = await getHost(client, name);
  const { image, changed } = await knowing(client, () => writeDataImage(client, name, { url, immediate }));
  const entry = driveEntry(image, host);
  const what = `DataImage ${name.namespace}/${name.name}`;
  const message = changed
    ? `${what} requests ${url} for its host.`
    : `${what} already requests ${url}. Nothing was written.`;
  const isThere = isInDrive(entry, url);
  // Running the command twice must not reboot twice.
  const rebooted = reboot && !isThere && needsReboot(host);
  if (rebooted) await requestReboot(client, host, `${what} requests ${url}`);
  const asked = { action: 'attach' as const, ...name, immediate, reboot: rebooted };
  return {
    action: 'attach',
    namespace: name.namespace,
    host: name.name,
    url,
    changed,
    rebooted,
    reached: isThere ? true : null,
    warnings,
    message,
    next: isThere ? 'The ISO is attached.' : formatNextSteps(asked, entry.host),
  };
}

export type DetachOptions = ChangeOptions;

export const runDetach = (name: string, options: DetachOptions, io: Io): Promise<void> =>
  withCluster(options, io, async (client) => {
    const host = { namespace: options.namespace, name };
    const outcome = await detach(client, host, options.reboot === true);
    const reached = `DataImage ${host.namespace}/${name} is deleted, and its ISO is detached.`;
    await writeResultAndWait(client, outcome, reached, options, io);
  });

async function detach(client: Client, name: HostName, reboot: boolean): Promise<DriveChangeResult> {
  const image = await knowing(client, () => client.find(dataImages, name));
  const host = await findHost(client, name);
  if (image === undefined && host === undefined) throw await noSuchHost(client, name);
  const what = `DataImage ${name.namespace}/${name.name}`;
  if (image === undefined) return buildUnchangedResult(name, `${what} does not exist. There is nothing to detach.`);
  const changed = image.metadata.deletionTimestamp === undefined;
  if (changed) await createCliWriter(client).remove(dataImages, anyVersion(image.metadata));
  const left = await client.find(dataImages, name);
  if (left?.metadata.uid !== image.metadata.uid) {
    return { ...buildUnchangedResult(name, `${what} is deleted. Its ISO was not attached.`), changed };
  }
  const rebooted = await rebootFor(client, host, reboot, what);
  const asked = { action: 'detach' as const, ...name, immediate: image.spec?.immediate === true, reboot: rebooted };
  return {
    ...buildUnchangedResult(name, changed ? `${what} is being deleted.` : `${what} was already being deleted.`),
    changed,
    rebooted,
    reached: null,
    next: formatNextSteps(asked, host === undefined ? null : hostEntry(host)),
  };
}

async function rebootFor(
  client: Client,
  host: Stored<BareMetalHost> | undefined,
  isAsked: boolean,
  what: string,
): Promise<boolean> {
  if (!isAsked || host === undefined || !needsReboot(host)) return false;
  await requestReboot(client, host, `${what} is being deleted`);
  return true;
}

/** The result if there is nothing to do. */
const buildUnchangedResult = ({ namespace, name }: HostName, message: string): DriveChangeResult => ({
  action: 'detach',
  namespace,
  host: name,
  url: null,
  changed: false,
  rebooted: false,
  reached: true,
  warnings: [],
  message,
  next: '',
});

/** Prints what was written and, with --wait, the final state. */
async function writeResultAndWait(
  { transport }: Client,
  outcome: DriveChangeResult,
  message: string,
  options: ChangeOptions,
  io: Io,
): Promise<void> {
  const isWaiting = options.wait === true && outcome.reached !== true;
  // JSON output has one document, the final one.
  if (!isWaiting || options.output === 'text') await writeResult(io, options, outcome);
  if (!isWaiting) return;
  const host = { namespace: outcome.namespace, name: outcome.host };
  const awaited = { url: outcome.url, reboot: outcome.rebooted };
  if (!(await waitForDrive({ transport, host, awaited, timeout: options.timeout, io, signal: stopSignal() }))) return;
  await writeResult(io, options, { ...outcome, reached: true, message, next: '' });
}

/** The change of a host's drive. `-o json` prints exactly this. */
interface DriveChangeResult {
  readonly action: 'attach' | 'detach';
  readonly namespace: string;
  readonly host: string;
  /** The requested ISO; null: none. */
  readonly url: string | null;
  /** Whether the DataImage was written or deleted. */
  readonly changed: boolean;
  /** Whether a reboot was requested. */
  readonly rebooted: boolean;
  /** Whether the requested state is reached; null: unknown, without --wait. */
  readonly reached: boolean | null;
  /** Problems of the ISO, as seen from this machine. */
  readonly warnings: readonly string[];
  readonly message: string;
  /** What happens next, and which command shows it. */
  readonly next: string;
}

function writeResult(io: Io, { output }: { output: 'text' | 'json' }, outcome: DriveChangeResult): Promise<void> {
  const lines = [outcome.message, outcome.next].filter(Boolean).map((line) => `${safeText(line)}\n`);
  return write(io.stdout, output === 'json' ? toJson(outcome) : lines.join(''));
}

export interface DriveChangeRequest {
  readonly action: 'attach' | 'detach';
  readonly namespace: string;
  readonly name: string;
  readonly immediate: boolean;
  /** Requested by this command. */
  readonly reboot: boolean;
}

const provisioned: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);

/** Describes what happens after a DataImage is written or deleted. Host null: it does not exist. */
export function formatNextSteps(asked: DriveChangeRequest, host: HostEntry | null): string {
  const show =
    asked.action === 'attach'
      ? ` Follow it with: slipway dataimage status ${asked.name} --namespace ${asked.namespace}`
      : '';
  return `${describeEffect(asked, host)}${show}`;
}

function describeEffect(asked: DriveChangeRequest, host: HostEntry | null): string {
  const effect = asked.action === 'attach' ? 'The ISO is attached' : 'The ISO is detached, and the DataImage deleted,';
  if (host === null) return 'The host no longer exists, so the DataImage is deleted immediately.';
  return describeObstacle(asked, host) ?? `${effect} ${describeTiming(asked, host)}`;
}

function describeObstacle({ action }: DriveChangeRequest, host: HostEntry): string | null {
  if (host.isPaused) {
    return 'The host is paused. To continue, remove its annotation baremetalhost.metal3.io/paused.';
  }
  if (host.isDetached) {
    return action === 'detach'
      ? 'The host is detached and its drive is unreachable, so the DataImage is deleted and the drive stays unchanged.'
      : 'The host is detached. To attach the ISO, remove its annotation baremetalhost.metal3.io/detached.';
  }
  if (action === 'detach') return null;
  if (host.isDeleting) return 'The host is being deleted, so the ISO is not attached.';
  if (!provisioned.has(host.state)) {
    return `The ISO is attached once the host is provisioned or externally provisioned. It is now ${host.state === '' ? 'not registered' : host.state}.`;
  }
  return null;
}

function describeTiming({ namespace, name, immediate, reboot, action }: DriveChangeRequest, host: HostEntry): string {
  if (immediate) return 'immediately, without a reboot.';
  if (!host.isOn) {
    return host.shallBeOn
      ? 'now, because the host is off. Then the host is switched on.'
      : 'now, because the host is off. The host stays off (spec.online is false).';
  }
  if (reboot || host.rebootAsked) return 'during the requested reboot: the host is switched off, then on again.';
  if (!host.shallBeOn) return 'when the host is off, as spec.online requests.';
  const how =
    action === 'attach'
      ? 'To reboot it now, run the same command with --reboot.'
      : `To reboot it now: kubectl annotate -n ${namespace} bmh ${name} reboot.metal3.io=`;
  return `when the host is next powered off. Slipway does not reboot it for that. ${how}`;
}
