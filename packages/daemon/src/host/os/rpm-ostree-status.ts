// `rpm-ostree status --json`. Fields come and go with its versions: what is absent is taken as empty.
import { DaemonError } from '../../errors.ts';
import { digestOf, imageOfReference } from './deployment.ts';

export interface RpmOstreeDeployment {
  readonly booted: boolean;
  readonly staged: boolean;
  readonly image: string;
  readonly digest: string;
  readonly version: string;
  readonly checksum: string;
  /** Asked for by name, beside those of the image. */
  readonly packages: readonly string[];
  /** Of the image's, those that were asked to go. */
  readonly removals: readonly string[];
}

export interface RpmOstreeStatus {
  readonly booted: RpmOstreeDeployment;
  readonly staged: RpmOstreeDeployment | null;
}

export function parseRpmOstreeStatus(text: string): RpmOstreeStatus {
  const deployments = asList(asRecord(parseJson(text))['deployments']).map((value) => readDeployment(asRecord(value)));
  const booted = deployments.find((deployment) => deployment.booted);
  if (booted === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      '`rpm-ostree status --json` names no deployment that this machine is booted from: expected one of `deployments` with ' +
        '`booted: true`.',
    );
  }
  return { booted, staged: deployments.find((deployment) => deployment.staged) ?? null };
}

function readDeployment(value: Record<string, unknown>): RpmOstreeDeployment {
  const image = imageOf(value);
  return {
    booted: value['booted'] === true,
    staged: value['staged'] === true,
    image,
    digest: asText(value['container-image-reference-digest']) || digestOf(image),
    version: asText(value['base-version']) || asText(value['version']),
    checksum: asText(value['checksum']),
    packages: asTexts(value['requested-packages']),
    removals: asTexts(value['requested-base-removals']),
  };
}

/** Hosts of old have the image in the text of a custom origin. */
function imageOf(value: Record<string, unknown>): string {
  const reference = asText(value['container-image-reference']);
  if (reference !== '') return imageOfReference(reference);
  const origin = asText(asList(value['custom-origin'])[0]);
  return origin.startsWith('pivot://') ? origin.slice('pivot://'.length) : '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not shown: it holds whole manifests.
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      'What `rpm-ostree status --json` printed is no JSON. Is there a newer version of it?',
    );
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asTexts(value: unknown): string[] {
  return asList(value).filter((item): item is string => typeof item === 'string');
}
