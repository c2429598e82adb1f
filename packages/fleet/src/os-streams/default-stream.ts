// The stream of a new pool that names none: determined by the installed version, never by the newest stream.
import { knownStream, type KnownStream, type MachineConfigPool, ROLE_LABEL } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import { matchesSelector } from '../render/select.ts';
import { findStream, listStreams, type Stream } from './available.ts';

export type Distribution = 'rhcos' | 'scos' | 'fcos';

export const getFamily = (distribution: Distribution): KnownStream['family'] => families[distribution];

const families = { rhcos: 'rhel', scos: 'centos', fcos: 'fedora' } as const satisfies Readonly<
  Record<Distribution, KnownStream['family']>
>;

/** From the platform version, such as `4.20.0-okd-scos.3`; without one from the available streams. Null: unknown. */
export function detectDistribution(
  version: string | null,
  available: readonly { name: string }[],
): Distribution | null {
  if (version !== null) {
    if (version.includes('scos')) return 'scos';
    return /okd|fcos/.test(version) ? 'fcos' : 'rhcos';
  }
  const found = new Set(available.map(({ name }) => knownStream(name)?.family));
  const matching = (['rhcos', 'scos', 'fcos'] as const).filter((each) => found.has(families[each]));
  return matching.length === 1 ? (matching[0] ?? null) : null;
}

/** The default stream of a platform version, whether or not it is available. Null: undetermined. */
export function expectedDefault(distribution: Distribution | null, version: string | null): string | null {
  switch (distribution) {
    case 'scos':
      return 'centos-10';
    case 'fcos':
      return 'fedora-coreos';
    case 'rhcos': {
      const [, major] = /^v?(\d{1,4})\./.exec(version ?? '') ?? [];
      if (major === undefined) return null;
      return Number(major) >= 5 ? 'rhel-10' : 'rhel-9';
    }
    default:
      return null;
  }
}

export interface DefaultStreamRequest {
  /** Of the platform; null: unknown. */
  readonly version: string | null;
  readonly available: readonly Stream[];
  /** The default that another client set; null: none. */
  readonly override: string | null;
}

/** The name is spelled as in the payload. */
export type DefaultStream =
  | { readonly ok: true; readonly name: string; readonly because: 'override' | 'version' | 'the only one' }
  | { readonly ok: false; readonly problem: CodedProblem };

export function selectDefaultStream({ version, available, override }: DefaultStreamRequest): DefaultStream {
  const chosen = override === null ? undefined : findStream(available, override);
  if (chosen !== undefined) return { ok: true, name: chosen.name, because: 'override' };
  const expected = expectedDefault(detectDistribution(version, available), version);
  const stream = expected === null ? onlyOne(available) : findStream(available, expected);
  if (stream === undefined) return { ok: false, problem: missing(version, expected, available) };
  return { ok: true, name: stream.name, because: expected === null ? 'the only one' : 'version' };
}

const onlyOne = (available: readonly Stream[]): Stream | undefined =>
  available.length === 1 ? available[0] : undefined;

function missing(version: string | null, expected: string | null, available: readonly Stream[]): CodedProblem {
  const shown = version === null ? 'without a version' : version.slice(0, 80);
  const wanted =
    expected === null
      ? `no default OS image stream is known for a platform ${shown}`
      : `expected the stream ${expected}, the default of platform ${shown}`;
  const message = `OSImageStream cluster, status.defaultStream: ${wanted}; available streams: ${listStreams(available)}. Correct the sources (the release image, ConfigMap machine-config-osimageurl), or set spec.defaultStream to an available stream`;
  return { code: 'SLW_STREAM_NO_DEFAULT', message };
}

// Whether a pool builds on worker: then it follows worker's OS, unless it specifies another stream.

const onTheirOwn = new Set(['worker', 'master', 'arbiter']);

export const followsWorker = ({ metadata, spec }: Pick<MachineConfigPool, 'metadata' | 'spec'>): boolean =>
  !onTheirOwn.has(metadata.name) && matchesSelector(spec.machineConfigSelector, { [ROLE_LABEL]: 'worker' });
