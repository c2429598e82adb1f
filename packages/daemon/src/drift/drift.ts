// One difference between the machine and its config.
import { truncate } from '@slipway/base/text';
import { driftPolicyAnnotation } from '@slipway/api/names';

export type DriftKind =
  | 'file'
  | 'permission'
  | 'owner'
  | 'missing'
  | 'extra'
  | 'link'
  | 'directory'
  | 'unit'
  | 'ssh keys'
  | 'password'
  | 'os image'
  | 'kernel arguments'
  | 'kernel type'
  | 'extensions'
  | 'fips';

export interface Drift {
  readonly kind: DriftKind;
  /** The path, the unit, the user, or the field of the MachineConfig. */
  readonly name: string;
  /** Human-readable: the item, what was expected, what was observed. No secrets. */
  readonly message: string;
  /** Unified, bounded, masked: `-` is the config, `+` the machine. '' if nothing can be shown. It stays on the machine. */
  readonly diff: string;
  /** Whether writing to the disk repairs it, without a reboot and without guessing. */
  readonly canHeal: boolean;
}

/** Drifts of the same item share a key, for example contents and mode of a file. */
export function buildItemKey({ kind, name }: Pick<Drift, 'kind' | 'name'>): string {
  return name.startsWith('/') ? name : `${kind} ${name}`;
}

const MAX_NAME_CHARS = 200;

/** Makes a path or a name printable: names on a disk may contain anything. */
export function sanitizeName(name: string): string {
  const safe = name.replaceAll(/\p{Cc}/gu, '\uFFFD');
  return truncate(safe, MAX_NAME_CHARS);
}

/** The message of an event is limited to 1,024 bytes. */
const MAX_MESSAGE_CHARS = 900;
const REMEDIATION =
  'Revert it on the machine, add it to a MachineConfig, or have the daemon revert it: ' +
  `set annotation ${driftPolicyAnnotation}=heal on MachineConfiguration cluster`;

/** One human-readable text for all drifts, short enough for an annotation or an event. '' for none. */
export function describeDrifts(config: string, drifts: readonly Drift[]): string {
  if (drifts.length === 0) return '';
  const count =
    drifts.length === 1 ? '1 item on this machine differs' : `${drifts.length} items on this machine differ`;
  const start = `${count} from ${config}: `;
  const room = MAX_MESSAGE_CHARS - start.length - REMEDIATION.length;
  return `${start}${listWithin(
    room,
    drifts.map(({ message }) => message),
  )}. ${REMEDIATION}`;
}

function listWithin(room: number, messages: readonly string[]): string {
  const listed: string[] = [];
  let length = 0;
  for (const message of messages) {
    length += message.length + 2;
    if (length > room && listed.length > 0) break;
    listed.push(truncate(message, room));
  }
  const left = messages.length - listed.length;
  return listed.join('; ') + (left === 0 ? '' : `; and ${left} more`);
}
