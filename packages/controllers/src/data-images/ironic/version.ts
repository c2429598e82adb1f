import { IronicError } from './ironic-error.ts';

/** Attaching came with 1.89, seeing what is attached with 1.93. No later version changes what we use. */
const WANTED = 93;

const header = (name: 'minimum' | 'maximum') => `x-openstack-ironic-api-${name}-version`;

export const versionHeader = 'x-openstack-ironic-api-version';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Which version to speak with an Ironic that says this of itself: the oldest that will do, whose meaning is settled. */
export function negotiate(headers: Headers, asked: string): string {
  const least = minorOf(headers[header('minimum')]);
  const most = minorOf(headers[header('maximum')]);
  if (least === undefined || most === undefined) {
    const text = `expected the versions of its API in its headers, found none. Check that this is the address of an Ironic, and that a proxy between passes its headers on`;
    throw new IronicError('SLW_IRONIC_ANSWER', text, { asked });
  }
  if (most < WANTED) {
    const text = `expected version 1.${WANTED} of its API or newer, found 1.${least} to 1.${most}. Use Ironic 26.1 (2024.2) or newer`;
    throw new IronicError('SLW_IRONIC_VERSION', text, { asked });
  }
  return `1.${Math.max(WANTED, least)}`;
}

function minorOf(value: string | readonly string[] | undefined): number | undefined {
  const found = typeof value === 'string' ? /^1\.(\d{1,6})$/.exec(value) : null;
  return found === null ? undefined : Number(found[1]);
}
