import { isRecord } from '@slipway/base/json';
import { printableLine } from '@slipway/base/text';
import type { Drive, KnownNode } from '@slipway/fleet/hosts';
import { IronicError } from './ironic-error.ts';

/** The fields to request of a node. Not driver_info: it contains credentials. */
export const nodeFields = [
  'uuid',
  'provision_state',
  'target_provision_state',
  'power_state',
  'target_power_state',
  'reservation',
  'last_error',
  'maintenance',
  'extra',
].join(',');

const MAX_ERROR_LENGTH = 2000;
const MAX_IMAGE_LENGTH = 4096;
const MAX_DEVICES = 64;

type Fields = Readonly<Record<string, unknown>>;

export function readNode(body: unknown, asked: string): KnownNode {
  const node = parseRecord(body, 'a node', asked);
  const uuid = parseText(node, 'uuid', asked);
  // The UUID becomes part of request paths.
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(uuid)) throw unexpected('uuid', 'a UUID', uuid, asked);
  const lastError = parseTextOrNull(node, 'last_error', asked);
  const { maintenance } = node;
  if (typeof maintenance !== 'boolean') throw unexpected('maintenance', 'true or false', maintenance, asked);
  return {
    uuid,
    provisionState: parseText(node, 'provision_state', asked),
    targetProvisionState: parseTextOrNull(node, 'target_provision_state', asked),
    powerState: parseTextOrNull(node, 'power_state', asked),
    targetPowerState: parseTextOrNull(node, 'target_power_state', asked),
    reservation: parseTextOrNull(node, 'reservation', asked),
    lastError: lastError === null ? null : printableLine(lastError, MAX_ERROR_LENGTH),
    maintenance,
    ...parseOwnExtra(node['extra']),
  };
}

/** What we stored in `extra`. Any client may write there: everything else is ignored. */
function parseOwnExtra(extra: unknown): { sentDigest: string | null; hostUid: string | null } {
  const ours: unknown = isRecord(extra) ? extra['slipway'] : undefined;
  const { digest, uid } = isRecord(ours) ? ours : {};
  return {
    sentDigest: typeof digest === 'string' && digest !== '' ? digest : null,
    hostUid: typeof uid === 'string' && uid !== '' ? uid : null,
  };
}

/** The CD or DVD drive; of several, the one with a medium in it. */
export function readDrive(body: unknown, asked: string): Drive {
  if (!Array.isArray(body) || body.length > MAX_DEVICES) {
    throw unexpected('virtual media', `a list of at most ${MAX_DEVICES} devices`, body, asked);
  }
  const devices = body.map((device) => parseRecord(device, 'a device', asked));
  const drives = devices.filter(takesDiscs).map((device) => parseDrive(device, asked));
  const drive = drives.find(({ inserted }) => inserted) ?? drives[0];
  if (drive !== undefined) return drive;
  const text = `expected a CD or DVD drive among the virtual media devices of the BMC, found none among ${devices.length}. Check the license and the settings of the BMC`;
  throw new IronicError('SLW_IRONIC_NO_DRIVE', text, { asked });
}

const takesDiscs = ({ media_types: types }: Fields): boolean =>
  Array.isArray(types) && types.some((type) => type === 'CD' || type === 'DVD');

function parseDrive(device: Fields, asked: string): Drive {
  // Some BMCs omit empty fields.
  const { inserted = null, image = null } = device;
  if (inserted !== null && typeof inserted !== 'boolean')
    throw unexpected('inserted', 'true or false', inserted, asked);
  if (image !== null && (typeof image !== 'string' || image.length > MAX_IMAGE_LENGTH)) {
    throw unexpected('image', `text of at most ${MAX_IMAGE_LENGTH} characters`, image, asked);
  }
  return { inserted: inserted ?? false, image: image ?? '' };
}

function parseText(fields: Fields, name: string, asked: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw unexpected(name, 'text', value, asked);
  return value;
}

function parseTextOrNull(fields: Fields, name: string, asked: string): string | null {
  const value = fields[name];
  if (value === null) return null;
  if (typeof value !== 'string') throw unexpected(name, 'text or null', value, asked);
  return value === '' ? null : value;
}

function parseRecord(value: unknown, what: string, asked: string): Fields {
  if (!isRecord(value)) throw unexpected(what, 'an object', value, asked);
  return value;
}

/** Names the type of the value, never its content. */
function unexpected(field: string, expected: string, found: unknown, asked: string): IronicError {
  const kind = found === null ? 'null' : Array.isArray(found) ? 'a list' : typeof found;
  const text = `${field}: expected ${expected}, found ${kind}. Check that this is Ironic's address`;
  return new IronicError('SLW_IRONIC_ANSWER', text, { asked });
}
