// Follows a DataImage and its host until they reach the requested state.
import { bareMetalHosts, dataImages } from '@slipway/api';
import { type DriveEntry, driveEntry, type HostEntry, hostEntry } from '@slipway/fleet/reports';
import { createInformer, type Transport } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { INTERRUPTED, type Io, write } from '../cli/io.ts';
import { durationText, safeText } from '../cli/terminal.ts';
import type { HostName } from './data-image.ts';
import { formatReason } from './status.ts';

interface WaitOptions {
  readonly transport: Transport;
  readonly host: HostName;
  readonly awaited: AwaitedDrive;
  /** Seconds. */
  readonly timeout: number;
  readonly io: Io;
  /** Aborted: the wait ends. */
  readonly signal: AbortSignal;
}

/** The two objects update separately. A state that lasts this long is not a moment between two updates. */
const SETTLE_MS = 1000;

/** True: the state is reached. False: the user interrupted the wait, which is reported. */
export async function waitForDrive(options: WaitOptions): Promise<boolean> {
  const { host, timeout, io } = options;
  await write(io.stderr, `waiting up to ${durationText(timeout)}. Ctrl-C ends the wait; the request stays\n`);
  const { end, why } = await follow(options);
  if (end === 'done') return true;
  if (end === 'interrupted') {
    await write(io.stderr, `Stopped waiting; the request stays. ${statusHint(host)}\n`);
    io.setExitCode(INTERRUPTED);
    return false;
  }
  const what =
    end === 'hopeless'
      ? 'cannot reach the requested state'
      : `did not reach the requested state within ${durationText(timeout)}`;
  throw new CommandError(
    'SLW_CLI_DATA_IMAGE_WAIT',
    `DataImage ${host.namespace}/${host.name} ${what}: ${safeText(why)}. ${end === 'hopeless' ? '' : 'The request stays. '}${statusHint(host)}`,
  );
}

interface WaitResult {
  readonly end: 'done' | 'hopeless' | 'too late' | 'interrupted';
  readonly why: string;
}

function follow({ transport, host, awaited, timeout, io, signal }: WaitOptions): Promise<WaitResult> {
  const ended = new AbortController();
  const { promise, resolve } = Promise.withResolvers<WaitResult>();
  const scope = { namespace: host.namespace, fieldSelector: `metadata.name=${host.name}`, longestBackoffMs: 1000 };
  const images = createInformer(transport, { resource: dataImages, ...scope });
  const hosts = createInformer(transport, { resource: bareMetalHosts, ...scope });
  const observeDrive = (): ObservedDrive => {
    const [image] = images.store.values();
    const [found] = hosts.store.values();
    return {
      entry: image === undefined ? null : driveEntry(image, found),
      host: found === undefined ? null : hostEntry(found),
    };
  };

  let why = 'the API server has not responded';
  let settling: NodeJS.Timeout | undefined;
  const act: Record<WaitState['type'], (state: WaitState) => void> = {
    done: () => {
      settling ??= setTimeout(() => resolve({ end: 'done', why }), awaited.reboot ? SETTLE_MS : 0);
    },
    hopeless: () => resolve({ end: 'hopeless', why }),
    waiting: () => {},
  };
  const checkDrive = (): void => {
    const state = waitState(observeDrive(), awaited);
    if (state.type !== 'done') {
      clearTimeout(settling);
      settling = undefined;
      if (state.why !== why) void write(io.stderr, `${clock()} ${safeText(state.why)}\n`);
      ({ why } = state);
    }
    act[state.type](state);
  };

  const limit = setTimeout(() => resolve({ end: 'too late', why }), timeout * 1000);
  const onAbort = (): void => resolve({ end: 'interrupted', why });
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  images.start(ended.signal);
  hosts.start(ended.signal);
  // Before both have synced, a missing object may just not have been read yet.
  const begin = async (): Promise<void> => {
    await Promise.all([images.synced, hosts.synced]);
    if (ended.signal.aborted) return;
    images.onChange(checkDrive);
    hosts.onChange(checkDrive);
    checkDrive();
  };
  void begin();
  return promise.finally(() => {
    clearTimeout(limit);
    clearTimeout(settling);
    signal.removeEventListener('abort', onAbort);
    ended.abort();
  });
}

const clock = (): string => `${new Date().toISOString().slice(0, 19)}Z`;

const statusHint = ({ namespace, name }: HostName): string =>
  `slipway dataimage status ${name} --namespace ${namespace} shows the current state`;

interface AwaitedDrive {
  /** The desired ISO; null: the DataImage must be deleted. */
  readonly url: string | null;
  /** The host must have rebooted too. */
  readonly reboot: boolean;
}

interface ObservedDrive {
  /** Null: the DataImage does not exist. */
  readonly entry: DriveEntry | null;
  readonly host: HostEntry | null;
}

type WaitState =
  | { readonly type: 'done' }
  /** Waiting does not help. */
  | { readonly type: 'hopeless'; readonly why: string }
  | { readonly type: 'waiting'; readonly why: string };

export function waitState({ entry, host }: ObservedDrive, { url, reboot }: AwaitedDrive): WaitState {
  const drive = url === null ? whileDetaching(entry) : whileAttaching(entry, url);
  return drive.type === 'done' && reboot ? whileRebooting(host) : drive;
}

function whileDetaching(entry: DriveEntry | null): WaitState {
  // A DataImage that is not being deleted is a new one of another client.
  return entry?.isDeleting === true ? waiting(`${entry.state}: ${formatReason(entry)}`) : { type: 'done' };
}

function whileAttaching(entry: DriveEntry | null, url: string): WaitState {
  if (entry === null) return hopeless('another client deleted the DataImage');
  if (entry.isDeleting) return hopeless('another client is deleting the DataImage');
  if (entry.url !== url) return hopeless(`another client changed the URL of the DataImage to ${entry.url}`);
  // Only the controller writes the status, after it has verified the ISO in the drive.
  if (entry.state === 'attached' && entry.attached === url) return { type: 'done' };
  if (entry.state === 'unsupported') return hopeless(formatReason(entry));
  return waiting(`${entry.state}: ${formatReason(entry)}`);
}

/** Done when the requested reboot is over and the host is on again, if it should be on. */
function whileRebooting(host: HostEntry | null): WaitState {
  if (host === null) return { type: 'done' };
  if (host.rebootAsked) return waiting('the host is being switched off');
  return host.isOn || !host.shallBeOn ? { type: 'done' } : waiting('the host is being switched on');
}

const waiting = (why: string): WaitState => ({ type: 'waiting', why });

const hopeless = (why: string): WaitState => ({ type: 'hopeless', why });
