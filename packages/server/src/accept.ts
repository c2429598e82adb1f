import { SPEC_VERSIONS } from '@slipway/ignition';
import type { SpecVersion } from '@slipway/ignition';

export type AskedVersion = { ok: true; version: SpecVersion } | { ok: false; message: string };

const ignitionType = 'application/vnd.coreos.ignition+json';
/** What clients of before the header existed can read. */
const oldest: SpecVersion = '2.2.0';
/** A client names one or two; whoever names hundreds is none. */
const mostRanges = 16;

/**
 * The spec version that a client asks for with its Accept header. Among several the preferred one (q) counts, then the
 * newest. Every client reads older configs of its own major version, so the answer is the newest version that is not
 * newer than the one asked for: 3.9.0 is answered with 3.6.0. A header that names no Ignition config, and none at all,
 * are the clients of spec 2.2.
 */
export function parseAccept(header: string | undefined): AskedVersion {
  const asked = (header ?? '').split(',', mostRanges).flatMap(readRange);
  if (asked.length === 0) return { ok: true, version: oldest };
  const served = asked
    .flatMap(({ version, quality }) => {
      const found = newestUpTo(version);
      return found === undefined ? [] : [{ found, quality }];
    })
    .toSorted((a, b) => b.quality - a.quality || SPEC_VERSIONS.indexOf(b.found) - SPEC_VERSIONS.indexOf(a.found));
  const best = served[0];
  if (best !== undefined) return { ok: true, version: best.found };
  const found = asked.map(({ version }) => JSON.stringify(version.slice(0, 40))).join(', ');
  return {
    ok: false,
    message: `the Accept header asks for an Ignition config of version ${found}: served are ${SPEC_VERSIONS.join(', ')}`,
  };
}

interface AskedRange {
  version: string;
  quality: number;
}

function readRange(text: string): AskedRange[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  if (type.toLowerCase() !== ignitionType) return [];
  const version = parameterOf(parameters, 'version') ?? oldest;
  const quality = Number(parameterOf(parameters, 'q') ?? 1);
  return quality > 0 ? [{ version, quality }] : [];
}

function parameterOf(parameters: readonly string[], name: string): string | undefined {
  const found = parameters.find((parameter) => parameter.toLowerCase().startsWith(`${name}=`));
  return found?.slice(name.length + 1).replaceAll('"', '');
}

/** The newest version we serve of the same major that is not newer; a pre-release comes before its release. */
function newestUpTo(asked: string): SpecVersion | undefined {
  const match = /^(\d{1,4})\.(\d{1,4})\.(\d{1,4})(-[\w.-]{1,40})?$/.exec(asked);
  if (match === null) return undefined;
  const [, major, minor, patch, preRelease] = match;
  const limit = Number(minor) - (preRelease !== undefined && Number(patch) === 0 ? 1 : 0);
  return SPEC_VERSIONS.findLast((version) => {
    const [ourMajor, ourMinor] = version.split('.');
    return ourMajor === major && Number(ourMinor) <= limit;
  });
}
