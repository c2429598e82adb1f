// Reboot annotations of a BareMetalHost: reboot.metal3.io asks for one reboot; with a key behind a slash it holds the host
// off until whoever put it there takes it away.
import { isRecord } from '@slipway/base/json';
import type { RebootRequest } from './host-step.ts';

export const rebootAnnotation = 'reboot.metal3.io';
/** Our key, for use beside an operator that powers the hosts itself. */
export const ownRebootKey = 'slipway';
const LONGEST_VALUE = 1024;

export function rebootRequests(annotations: Readonly<Record<string, string>> | undefined): RebootRequest[] {
  return Object.entries(annotations ?? {}).flatMap(([name, value]) => {
    if (name === rebootAnnotation) return [{ key: '', ...readValue(value) }];
    const key = name.startsWith(`${rebootAnnotation}/`) ? name.slice(rebootAnnotation.length + 1) : '';
    return key === '' ? [] : [{ key, ...readValue(value) }];
  });
}

/** The value of our own. */
export const holdValue = (now: number): string => JSON.stringify({ mode: 'soft', since: now });

/** Soft unless it says hard. What cannot be read is soft too: the request itself is the annotation's being there. */
function readValue(value: string): Pick<RebootRequest, 'mode' | 'since'> {
  const { mode, since } = parse(value);
  return {
    mode: mode === 'hard' ? 'hard' : 'soft',
    since: typeof since === 'number' && Number.isFinite(since) ? since : 0,
  };
}

function parse(value: string): Record<string, unknown> {
  if (value.length > LONGEST_VALUE) return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

export const annotationOf = ({ key }: RebootRequest): string =>
  key === '' ? rebootAnnotation : `${rebootAnnotation}/${key}`;

export const isPlain = ({ key }: RebootRequest): boolean => key === '';
export const isOwn = ({ key }: RebootRequest): boolean => key === ownRebootKey;

/** One that asks for hard is enough: it says that the operating system will not answer. */
export const modeOfAll = (requests: readonly RebootRequest[]): RebootRequest['mode'] =>
  requests.some(({ mode }) => mode === 'hard') ? 'hard' : 'soft';
