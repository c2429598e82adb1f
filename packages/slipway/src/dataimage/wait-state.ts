// Whether what was asked of a drive has come about.
import type { DriveEntry, HostEntry } from '@slipway/fleet/reports';
import { whyOf } from './drive-text.ts';

export interface Awaited {
  /** The ISO that shall be in the drive; null: the DataImage shall be gone. */
  readonly url: string | null;
  /** The host shall have been rebooted, too. */
  readonly reboot: boolean;
}

export interface DriveSeen {
  /** Null: there is none. */
  readonly entry: DriveEntry | null;
  readonly host: HostEntry | null;
}

export type WaitState =
  | { readonly type: 'done' }
  /** It cannot come about by waiting. */
  | { readonly type: 'hopeless'; readonly why: string }
  | { readonly type: 'waiting'; readonly why: string };

export function waitState({ entry, host }: DriveSeen, { url, reboot }: Awaited): WaitState {
  const drive = url === null ? whileDetaching(entry) : whileAttaching(entry, url);
  return drive.type === 'done' && reboot ? whileRebooting(host) : drive;
}

function whileDetaching(entry: DriveEntry | null): WaitState {
  // One that is not being deleted is a new one, of somebody who came after us.
  return entry?.isDeleting === true ? waiting(`${entry.state}: ${whyOf(entry)}`) : { type: 'done' };
}

function whileAttaching(entry: DriveEntry | null, url: string): WaitState {
  if (entry === null) return hopeless('somebody has deleted the DataImage');
  if (entry.isDeleting) return hopeless('somebody is deleting the DataImage');
  if (entry.url !== url) return hopeless(`somebody has changed the URL of the DataImage to ${entry.url}`);
  // Only the controller writes status, and not before it has seen the ISO in the drive.
  if (entry.state === 'attached' && entry.attached === url) return { type: 'done' };
  if (entry.state === 'unsupported') return hopeless(whyOf(entry));
  return waiting(`${entry.state}: ${whyOf(entry)}`);
}

/** Asked for, served, and on again if it shall be. */
function whileRebooting(host: HostEntry | null): WaitState {
  if (host === null) return { type: 'done' };
  if (host.rebootAsked) return waiting('the host is being switched off');
  return host.isOn || !host.shallBeOn ? { type: 'done' } : waiting('the host is being switched on');
}

const waiting = (why: string): WaitState => ({ type: 'waiting', why });
const hopeless = (why: string): WaitState => ({ type: 'hopeless', why });
