// The oldest boot image that new machines may still boot from, and whether it is too old for the cluster.
import type { MachineConfiguration } from '@slipway/api';
import { listNames, truncate } from '@slipway/base/text';
import {
  type BootVersion,
  isBelowLimit,
  isOlderRelease,
  findOldestVersion,
  parseBootVersion,
  skewLimits,
} from './boot-version.ts';
import type { Decision } from './decide.ts';
import { formatResource, type OptIn } from './facts.ts';
import { isElsewhere, mayRecordSkew } from './preconditions.ts';

type SkewStatus = NonNullable<NonNullable<MachineConfiguration['status']>['bootImageSkewEnforcementStatus']>;
type Manual = NonNullable<SkewStatus['manual']>;
type Automatic = NonNullable<SkewStatus['automatic']>;
type Finding = Pick<Decision, 'verdict' | 'gate' | 'version'>;

export interface SkewInput {
  /** spec.bootImageSkewEnforcement. */
  readonly enforcement: MachineConfiguration['spec']['bootImageSkewEnforcement'];
  readonly optIn: OptIn | null;
  /** Of every MachineSet and MachineDeployment, opted in or not. */
  readonly findings: readonly Finding[];
  /** Of ConfigMap coreos-bootimages; '' if unknown. */
  readonly releaseVersion: string;
  /** The release that the cluster was installed with; null: unknown. */
  readonly installVersion: string | null;
  /** The current status.bootImageSkewEnforcementStatus. */
  readonly before: SkewStatus | undefined;
}

export interface Skew {
  readonly status: SkewStatus;
  /** Why the cluster must not be upgraded, for the annotation slipway.dev/boot-image-skew; null: it may be. */
  readonly problem: string | null;
}

const MAX_NAMES = 10;
const MAX_WHY = 200;
const UNKNOWN = '0.0.0';
const limits = `platform ${skewLimits.ocp}, or OS ${skewLimits.rhel}`;

export function computeSkew(input: SkewInput): Skew {
  const { enforcement, optIn } = input;
  if (enforcement?.mode === 'None') return { status: { mode: 'None' }, problem: null };
  if (enforcement?.manual !== undefined) return manualSkew(enforcement.manual);
  return mayRecordSkew(optIn) ? automaticSkew(input) : { status: { mode: 'None' }, problem: null };
}

function manualSkew(manual: Manual): Skew {
  const recorded = (manual.mode === 'OCPVersion' ? manual.ocpVersion : manual.rhcosVersion) ?? '';
  const version = parseBootVersion(recorded);
  const isFine = version !== null && !isBelowLimit(version);
  const problem = `${tooOld(recorded)}. The version is set in spec.bootImageSkewEnforcement.manual of MachineConfiguration cluster. Update the boot images to this release, then set the new version there`;
  return { status: { mode: 'Manual', manual }, problem: isFine ? null : problem };
}

function automaticSkew(input: SkewInput): Skew {
  const findings = input.findings.filter(({ gate }) => !isElsewhere(gate));
  const doubtful = findings.filter(isDoubtful);
  // The record stays valid while an update is in progress: no image gets older in the meantime.
  const kept = doubtful.length === 0 && findings.some(isUnderWay) ? input.before?.automatic : undefined;
  const automatic = kept ?? buildRecord(input, findings);
  const problem = describeProblem(automatic, doubtful);
  return { status: { mode: 'Automatic', automatic }, problem };
}

const isUnderWay = ({ verdict, gate }: Finding): boolean =>
  verdict.verdict === 'update' || (gate === 'stamp' && verdict.verdict === 'skipped');

/** The age of its image is unknown: a skipped resource never counts as fine. */
const isDoubtful = (finding: Finding): boolean => finding.verdict.verdict !== 'current' && !isUnderWay(finding);

function buildRecord({ releaseVersion, installVersion }: SkewInput, findings: readonly Finding[]): Automatic {
  const release = parseBootVersion(releaseVersion);
  const isCertain = findings.every(({ verdict }) => verdict.verdict === 'current');
  if (!isCertain || release === null || release.ocp === null) return { ocpVersion: xyz(installVersion ?? '') };
  // A resource that boots the payload's image without stating its version has the payload's version.
  const versions = findings.flatMap(({ version }) => parseBootVersion(version ?? '') ?? []);
  const oldest = findOldestVersion(versions);
  if (oldest === undefined) return { ocpVersion: xyz(releaseVersion) };
  const isOlder = isOlderRelease(oldest, release);
  const ocpVersion = isOlder && oldest.ocp !== null ? `${oldest.ocp.join('.')}.0` : xyz(releaseVersion);
  return { ocpVersion, ...(isRecordable(oldest) ? { rhcosVersion: oldest.text } : {}) };
}

/** Has the format that the API accepts. */
const isRecordable = ({ text }: BootVersion): boolean =>
  text.length <= 21 && /^[0-9]+\.[0-9]+\.([0-9]{8}|[0-9]{12})-[0-9]+$/.test(text);

/** In the format that the API accepts, which has at most 10 characters. */
const xyz = (version: string): string => /^\d+\.\d+\.\d+(?=$|[-+])/.exec(version)?.[0].slice(0, 10) ?? UNKNOWN;

function describeProblem({ ocpVersion, rhcosVersion }: Automatic, doubtful: readonly Finding[]): string | null {
  const recorded = [ocpVersion, rhcosVersion].flatMap((text) => (text === undefined ? [] : [text]));
  const old = recorded.find((text) => isOld(text));
  if (old === undefined) return null;
  const names = doubtful.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1)).map(named);
  const shown = listNames(names, { max: MAX_NAMES, separator: '; ' });
  const which = shown === '' ? '' : `. The image age of these resources is unknown: ${shown}`;
  const why =
    old === UNKNOWN
      ? `${tooOld('unknown version')}. The release that the cluster was installed with is unknown`
      : tooOld(old);
  return `${why}${which}. Update their boot images to this release (slipway bootimages shows how), or set the oldest version in spec.bootImageSkewEnforcement of MachineConfiguration cluster`;
}

function isOld(text: string): boolean {
  const version = parseBootVersion(text);
  return version === null || isBelowLimit(version);
}

const tooOld = (version: string): string =>
  `Cannot upgrade: new machines may boot an image of ${version}, expected ${limits} or later`;

const sortKey = ({ verdict }: Finding): string => formatResource(verdict.resource);

function named({ verdict }: Finding): string {
  const why = verdict.why === '' ? verdict.verdict : verdict.why;
  return `${formatResource(verdict.resource)} (${truncate(why, MAX_WHY)})`;
}
