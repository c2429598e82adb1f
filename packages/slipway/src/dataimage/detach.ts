import { type BareMetalHost, dataImages } from '@slipway/api';
import { hostEntry } from '@slipway/fleet/reports';
import { type Client, createClient, type Stored } from '@slipway/kube';
import type { Io } from '../cli/io.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';
import { askReboot, needsReboot } from './ask-reboot.ts';
import { findHost, type HostName, knowing, noSuchHost } from './find-host.ts';
import { nextWords } from './next-words.ts';
import { type Outcome, sayOutcome } from './outcome.ts';
import { waitForDrive } from './wait-for-drive.ts';

export interface DetachOptions extends ClusterOptions {
  namespace: string;
  reboot?: boolean;
  wait?: boolean;
  /** Seconds. */
  timeout: number;
  output: 'text' | 'json';
}

export async function runDetach(name: string, options: DetachOptions, io: Io): Promise<void> {
  const transport = await connect(options);
  try {
    const host = { namespace: options.namespace, name };
    const outcome = await detach(createClient(transport), host, options.reboot === true);
    if (options.wait !== true || outcome.reached === true) return await sayOutcome(io, options, outcome);
    if (options.output === 'text') await sayOutcome(io, options, outcome);
    const awaited = { url: null, reboot: outcome.rebooted };
    if (!(await waitForDrive({ transport, host, awaited, timeout: options.timeout, io, signal: stopSignal() }))) return;
    const message = `DataImage ${host.namespace}/${name} is gone, and with it the ISO from the drive.`;
    await sayOutcome(io, options, { ...outcome, reached: true, message, next: '' });
  } finally {
    await transport.close();
  }
}

async function detach(client: Client, name: HostName, reboot: boolean): Promise<Outcome> {
  const image = await knowing(client, () => client.find(dataImages, name));
  const host = await findHost(client, name);
  if (image === undefined && host === undefined) throw await noSuchHost(client, name);
  const said = `DataImage ${name.namespace}/${name.name}`;
  if (image === undefined) return outcomeOf(name, `There is no ${said}: nothing is to be detached.`);
  const changed = image.metadata.deletionTimestamp === undefined;
  if (changed) await client.delete(dataImages, name, { uid: image.metadata.uid });
  const left = await client.find(dataImages, name);
  if (left?.metadata.uid !== image.metadata.uid) {
    return { ...outcomeOf(name, `${said} is gone; nothing of it was in the drive.`), changed };
  }
  const rebooted = await rebootFor(client, host, reboot, said);
  const asked = { action: 'detach' as const, ...name, immediate: image.spec?.immediate === true, reboot: rebooted };
  return {
    ...outcomeOf(name, changed ? `${said} is being deleted.` : `${said} was being deleted already.`),
    changed,
    rebooted,
    reached: null,
    next: nextWords(asked, host === undefined ? null : hostEntry(host)),
  };
}

async function rebootFor(
  client: Client,
  host: Stored<BareMetalHost> | undefined,
  isAsked: boolean,
  said: string,
): Promise<boolean> {
  if (!isAsked || host === undefined || !needsReboot(host)) return false;
  await askReboot(client, host, `${said} is being deleted`);
  return true;
}

/** Nothing was to be done. */
const outcomeOf = ({ namespace, name }: HostName, message: string): Outcome => ({
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
