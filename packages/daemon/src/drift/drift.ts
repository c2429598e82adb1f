// One thing on the machine that is not as its config says.
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
  /** For people: what it is about, what was expected, what was found. No secrets. */
  readonly message: string;
  /** Unified, bounded, masked: `-` is what the config says, `+` what is there. '' where there is none to show. */
  readonly diff: string;
  /** Whether it can be put back by writing, without a reboot and without guessing. */
  readonly canHeal: boolean;
}

/** Drifts of the same thing have the same one: contents and mode of a file, for example. */
export function buildItemKey({ kind, name }: Pick<Drift, 'kind' | 'name'>): string {
  return name.startsWith('/') ? name : `${kind} ${name}`;
}

const MAX_NAME_CHARS = 200;

/** A path or a name as it may stand in a text for people: names on a disk may hold anything. */
export function sanitizeName(name: string): string {
  const safe = name.replaceAll(/\p{Cc}/gu, '\uFFFD');
  return truncate(safe, MAX_NAME_CHARS);
}

/** An event's message holds 1,024 bytes. */
const MAX_MESSAGE_CHARS = 900;
const REMEDIATION =
  'Undo it on the machine, or say it in a MachineConfig, or let it be put back: ' +
  `annotation ${driftPolicyAnnotation}=heal on the MachineConfiguration cluster`;

/** All of them for people, in a text that fits into an annotation or an event. '' where there are none. */
export function describeDrifts(config: string, drifts: readonly Drift[]): string {
  if (drifts.length === 0) return '';
  const count = drifts.length === 1 ? '1 thing on this machine is' : `${drifts.length} things on this machine are`;
  const start = `${count} not as ${config} says: `;
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
