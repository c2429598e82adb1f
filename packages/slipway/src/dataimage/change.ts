// What attach and detach do.
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
      'slipway dataimage attach: --immediate attaches without touching the host, --reboot reboots it for that: give one of them',
    );
  }
  const parsed = checkImageUrl(url);
  await withCluster(options, io, async (client) => {
    const host = { namespace: options.namespace, name };
    const warnings = options.check ? await warnAboutIso(client, host, parsed, io) : [];
    const outcome = await attach(client, host, { url, warnings }, options);
    await writeResultAndWait(client, outcome, `${url} is in the drive of ${host.namespace}/${name}.`, options, io);
  });
}

/** Said before anything is written, while Ctrl-C still helps. */
async function warnAboutIso(client: Client, host: HostName, url: URL, io: Io): Promise<string[]> {
  // A host that is not there is worth no questions to anybody else.
  await getHost(client, host);
  const checked = await checkIso(url);
  if (checked.ok) return [];
  const warning = `${url.href} ${checked.problem}. That is as seen from here, Ironic and the BMC may reach more: it is asked for all the same. --no-check leaves this out`;
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
  const said = `DataImage ${name.namespace}/${name.name}`;
  const message = changed
    ? `${said} asks for ${url} in the drive of its host.`
    : `${said} asked for ${url} already: nothing was written.`;
  const isThere = isInDrive(entry, url);
  // Who runs a command twice does not want a second reboot.
  const rebooted = reboot && !isThere && needsReboot(host);
  if (rebooted) await requestReboot(client, host, `${said} asks for ${url}`);
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
    next: isThere ? 'It is in the drive.' : formatNextSteps(asked, entry.host),
  };
}

export type DetachOptions = ChangeOptions;

export const runDetach = (name: string, options: DetachOptions, io: Io): Promise<void> =>
  withCluster(options, io, async (client) => {
    const host = { namespace: options.namespace, name };
    const outcome = await detach(client, host, options.reboot === true);
    const reached = `DataImage ${host.namespace}/${name} is gone, and with it the ISO from the drive.`;
    await writeResultAndWait(client, outcome, reached, options, io);
  });

async function detach(client: Client, name: HostName, reboot: boolean): Promise<DriveChangeResult> {
  const image = await knowing(client, () => client.find(dataImages, name));
  const host = await findHost(client, name);
  if (image === undefined && host === undefined) throw await noSuchHost(client, name);
  const said = `DataImage ${name.namespace}/${name.name}`;
  if (image === undefined) return buildUnchangedResult(name, `There is no ${said}: nothing is to be detached.`);
  const changed = image.metadata.deletionTimestamp === undefined;
  if (changed) await createCliWriter(client).remove(dataImages, anyVersion(image.metadata));
  const left = await client.find(dataImages, name);
  if (left?.metadata.uid !== image.metadata.uid) {
    return { ...buildUnchangedResult(name, `${said} is gone; nothing of it was in the drive.`), changed };
  }
  const rebooted = await rebootFor(client, host, reboot, said);
  const asked = { action: 'detach' as const, ...name, immediate: image.spec?.immediate === true, reboot: rebooted };
  return {
    ...buildUnchangedResult(name, changed ? `${said} is being deleted.` : `${said} was being deleted already.`),
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
  said: string,
): Promise<boolean> {
  if (!isAsked || host === undefined || !needsReboot(host)) return false;
  await requestReboot(client, host, `${said} is being deleted`);
  return true;
}

/** Nothing was to be done. */
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

/** Says what was done and, with --wait, that it has come about. */
async function writeResultAndWait(
  { transport }: Client,
  outcome: DriveChangeResult,
  message: string,
  options: ChangeOptions,
  io: Io,
): Promise<void> {
  const isWaiting = options.wait === true && outcome.reached !== true;
  // As JSON there is one answer: the last.
  if (!isWaiting || options.output === 'text') await writeResult(io, options, outcome);
  if (!isWaiting) return;
  const host = { namespace: outcome.namespace, name: outcome.host };
  const awaited = { url: outcome.url, reboot: outcome.rebooted };
  if (!(await waitForDrive({ transport, host, awaited, timeout: options.timeout, io, signal: stopSignal() }))) return;
  await writeResult(io, options, { ...outcome, reached: true, message, next: '' });
}

/** What a command has done to the drive of a host. `-o json` gives exactly this. */
interface DriveChangeResult {
  readonly action: 'attach' | 'detach';
  readonly namespace: string;
  readonly host: string;
  /** The ISO that was asked for; null: none. */
  readonly url: string | null;
  /** Whether the DataImage was written or deleted. */
  readonly changed: boolean;
  /** Whether a reboot was asked for. */
  readonly rebooted: boolean;
  /** Whether it has come about; null: it was not waited for. */
  readonly reached: boolean | null;
  /** What was wrong with the ISO as seen from here. */
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
  /** By us, just now. */
  readonly reboot: boolean;
}

const provisioned: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);

/** What happens after a DataImage was written or deleted, in a sentence. Host null: there is none. */
export function formatNextSteps(asked: DriveChangeRequest, host: HostEntry | null): string {
  const show =
    asked.action === 'attach' ? ` slipway dataimage status ${asked.name} --namespace ${asked.namespace} shows it.` : '';
  return `${describeEffect(asked, host)}${show}`;
}

function describeEffect(asked: DriveChangeRequest, host: HostEntry | null): string {
  const goes = asked.action === 'attach' ? 'It is attached' : 'The ISO is taken out, and the DataImage goes,';
  if (host === null) return 'There is no such host any more: the DataImage goes at once.';
  return describeObstacle(asked, host) ?? `${goes} ${describeTiming(asked, host)}`;
}

function describeObstacle({ action }: DriveChangeRequest, host: HostEntry): string | null {
  if (host.isPaused) {
    return 'The host is paused: nothing happens until its annotation baremetalhost.metal3.io/paused is removed.';
  }
  if (host.isDetached) {
    return action === 'detach'
      ? 'The host is detached, its drive out of reach: the DataImage goes, the drive stays as it is.'
      : 'The host is detached: nothing is attached until its annotation baremetalhost.metal3.io/detached is removed.';
  }
  if (action === 'detach') return null;
  if (host.isDeleting) return 'The host is being deleted: nothing is attached to it any more.';
  if (!provisioned.has(host.state)) {
    return `It is attached once the host is provisioned or externally provisioned; now it is ${host.state === '' ? 'not registered' : host.state}.`;
  }
  return null;
}

function describeTiming({ namespace, name, immediate, reboot, action }: DriveChangeRequest, host: HostEntry): string {
  if (immediate) return 'at once; the host is not touched.';
  if (!host.isOn) {
    return host.shallBeOn
      ? 'now, for the host is off; it is switched on after that.'
      : 'now, for the host is off; it stays off, as spec.online says.';
  }
  if (reboot || host.rebootAsked) return 'in the reboot that was asked for: the host goes off, then on again.';
  if (!host.shallBeOn) return 'when the host is off, which spec.online asks for.';
  const again =
    action === 'attach'
      ? 'the same command with --reboot'
      : `kubectl annotate -n ${namespace} bmh ${name} reboot.metal3.io=`;
  return `when the host is next powered off. Nobody reboots it for that: ${again} does.`;
}
