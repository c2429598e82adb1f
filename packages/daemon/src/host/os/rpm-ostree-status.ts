// `rpm-ostree status --json`. Its fields vary with the version: absent ones count as empty.
import {
  anything,
  array,
  decodeValue,
  type Decoder,
  map,
  object,
  readableItems,
  string,
  withFallback,
} from '@slipway/base/codec';
import { parseJson } from '@slipway/base/json';
import { DaemonError } from '../../errors.ts';
import { parseDigest, parseImageReference } from './deployment.ts';

export interface RpmOstreeDeployment {
  readonly booted: boolean;
  readonly staged: boolean;
  readonly image: string;
  readonly digest: string;
  readonly version: string;
  readonly checksum: string;
  /** Requested by name, in addition to those of the image. */
  readonly packages: readonly string[];
  /** Packages of the image that were requested to be removed. */
  readonly removals: readonly string[];
}

export interface RpmOstreeStatus {
  readonly booted: RpmOstreeDeployment;
  readonly staged: RpmOstreeDeployment | null;
}

export function parseRpmOstreeStatus(text: string): RpmOstreeStatus {
  const found = parseJson(text);
  if (!found.ok) {
    // The output is not quoted, because it contains whole manifests.
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      'The output of `rpm-ostree status --json` is not JSON. A newer rpm-ostree may have changed its format',
    );
  }
  const said = decodeValue(object({ deployments: readableItems(deployment) }), found.value);
  const deployments = said.ok ? said.value.deployments : [];
  const booted = deployments.find((each) => each.booted);
  if (booted === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      '`rpm-ostree status --json` lists no booted deployment: expected one of `deployments` with `booted: true`.',
    );
  }
  return { booted, staged: deployments.find((each) => each.staged) ?? null };
}

const text = withFallback(string(), '');
const texts = withFallback(readableItems(string()), []);
const flag = map(anything, (value) => value === true);

const deployment: Decoder<RpmOstreeDeployment> = map(
  object({
    booted: flag,
    staged: flag,
    'container-image-reference': text,
    'container-image-reference-digest': text,
    'custom-origin': withFallback(array(anything), []),
    'base-version': text,
    version: text,
    checksum: text,
    'requested-packages': texts,
    'requested-base-removals': texts,
  }),
  (found) => {
    const image = parseImage(found['container-image-reference'], found['custom-origin'][0]);
    return {
      booted: found.booted,
      staged: found.staged,
      image,
      digest: found['container-image-reference-digest'] || parseDigest(image),
      version: found['base-version'] || found.version,
      checksum: found.checksum,
      packages: found['requested-packages'],
      removals: found['requested-base-removals'],
    };
  },
);

/** Old hosts have the image in the text of a custom origin. */
function parseImage(reference: string, origin: unknown): string {
  if (reference !== '') return parseImageReference(reference);
  return typeof origin === 'string' && origin.startsWith('pivot://') ? origin.slice('pivot://'.length) : '';
}
