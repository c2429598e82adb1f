import type { OracleResponse } from '@slipway/tools/ignition-oracle';
import type { Shape } from '../src/spec/field.ts';
import { specOf } from '../src/spec/index.ts';
import { SPEC_VERSIONS } from '../src/version.ts';
import { canonical } from './canonical.ts';
import type { Case } from './cases.ts';
import type { CaseOutcome } from './compare.ts';
import { withoutAdvertisements, withoutReplacedSources, type Projection } from './projections.ts';
import { readRaw, type RawJson } from './raw-json.ts';

/** Two different results for one case. */
export interface Disagreement {
  question: Case;
  go: OracleResponse;
  ours: CaseOutcome;
}

/**
 * An intended difference from the Go library; deviations.e2e.test.ts has examples of each. It is identified by:
 * - `covers`: a specific rule,
 * - `refuses`: fields for which Slipway's translation is an error, where the published one silently drops something,
 * - `leavesOut`: a part in which the results differ, with everything else the same.
 */
export interface Deviation {
  id: string;
  reason: string;
  covers?: (disagreement: Disagreement) => boolean;
  refuses?: RegExp;
  leavesOut?: (question: Case) => Projection | undefined;
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    id: 'key-in-other-case',
    reason:
      'Go accepts "Path" as "path". JSON has no such rule and the spec does not promise it; a reader that ignored the key would silently build another machine. Slipway refuses it and names the right key.',
    covers: ({ question, go, ours }) =>
      refusedByUs(go, ours) && anyRaw(question, ({ keys }) => [...keys].some(isRecased)),
  },
  {
    id: 'key-twice',
    reason: 'Go merges the values of a duplicate key, other readers use the first or the last. Slipway refuses it.',
    covers: ({ question, go, ours }) => refusedByUs(go, ours) && anyRaw(question, ({ keysTwice }) => keysTwice),
  },
  {
    id: 'number-above-2^53',
    reason: 'Go keeps 64-bit integers. Slipway refuses numbers that a double cannot store exactly, and never rounds.',
    covers: ({ question, go, ours }) =>
      refusedByUs(go, ours) && anyRaw(question, ({ numbers }) => numbers.some(isTooLarge)),
  },
  {
    id: 'version-written-otherwise',
    reason: 'Go reads "03.4.0", "3.4.0-" and "3.4.0+" as 3.4.0. Slipway accepts only the exact version.',
    covers: ({ question, go, ours }) =>
      refusedByUs(go, ours) && question.configs.some((text) => /^0*[23]\.0*[0-6]\.0+[-+]?$/.test(versionIn(text))),
  },
  {
    id: 'no-published-step',
    reason: 'The published modules have no translation between these versions: there is nothing to compare.',
    covers: ({ go }) => reportsAtTranslation(go, /^no published translation/),
  },
  {
    id: 'converter-panics',
    reason:
      'The converter follows nil pointers: a partition without wipePartitionEntry, a header without a value, a reference without a source. Slipway translates these.',
    covers: ({ go }) => go.panic === true,
  },
  {
    id: 'config-append-loop',
    reason:
      'The converter takes the address of its loop variable: with two or more references each becomes the last, and all are refused as duplicates. Slipway translates them.',
    covers: ({ question, go }) =>
      question.configs.some((text) => /"version":"2/.test(text)) &&
      reportsAtTranslation(go, /at \$\.ignition\.(config\.merge|security\.tls\.certificateAuthorities)\.\d/),
  },
  {
    id: 'empty-list-is-none',
    reason: 'To 2.2: the converter refuses headers, proxies and mount options even if the list is empty.',
    covers: ({ question, go }) =>
      question.configs.some((text) => /"(noProxy|httpHeaders|mountOptions)":\[\]/.test(text)) &&
      reportsAtTranslation(go, /to 2\.2\.0: .*(HTTP proxies|HTTPHeaders|MountOptions).* not supported on 2\.2/i),
  },
  {
    id: 'create-refused',
    reason: 'From 2.x: the converter drops `create` of a user and of a mount, and with it what it would create.',
    refuses: /^passwd\.users\[\d+\]\.create$|^storage\.filesystems\[\d+\]\.mount\.create$/,
  },
  {
    id: 'root-filesystem-mount',
    reason:
      'From 2.x: the converter drops a filesystem named root, even if it specifies what to create on which device.',
    refuses: /^storage\.filesystems\[\d+\]\.mount$/,
  },
  {
    id: 'node-on-unknown-filesystem',
    reason: 'From 2.x: the converter places a file on an undefined filesystem into the root filesystem.',
    refuses: /^storage\.(files|directories|links)\[\d+\]\.filesystem$/,
  },
  {
    id: 'mount-options-to-2.4',
    reason: 'To 2.x: the converter drops mountOptions of a filesystem.',
    refuses: /^storage\.filesystems\[\d+\]\.mountOptions(\[\d+\])?$/,
  },
  {
    id: 'file-without-contents-to-2',
    reason: 'To 2.x: the converter drops a file that has neither contents nor appends.',
    refuses: /^storage\.files\[\d+\]\.contents$/,
  },
  {
    id: 'partition-fields-to-2.2',
    reason: 'To 2.2: the converter drops shouldExist and wipePartitionEntry, so that a partition to remove is created.',
    // The whole list if a rule of 2.3, applied on the way, forbids shouldExist with a partition without a number.
    refuses: /^storage\.disks\[\d+\]\.partitions(\[\d+\]\.(shouldExist|wipePartitionEntry))?$/,
  },
  {
    id: 'cex-down',
    reason: 'From 3.5 to 3.4: the converter drops luks.cex, so that the disk is encrypted with another key.',
    refuses: /^storage\.luks\[\d+\]\.cex(\.enabled)?$/,
  },
  {
    id: 'tang-advertisement-kept',
    reason:
      'From 3.4 to 3.5, and from 3.5 to 3.4, Go drops the advertisement of a tang server. Both specs have it; in older specs it is an error, for Go too.',
    refuses: /^storage\.luks\[\d+\]\.clevis\.tang\[\d+\]\.advertisement$/,
    leavesOut: withoutAdvertisements,
  },
  {
    id: 'source-brings-its-own',
    reason:
      'If a child sets another source, Go keeps the parent’s compression, hash and headers with it: a valid parent and a valid child become a config that cannot be fetched, or that sends headers to another server. Slipway replaces them with their source.',
    leavesOut: withoutReplacedSources,
  },
];

export function findDeviation(disagreement: Disagreement): Deviation | undefined {
  return (
    DEVIATIONS.find((deviation) => deviation.covers?.(disagreement) === true) ??
    findRefusal(disagreement) ??
    findOmission(disagreement)
  );
}

/** Every field that Slipway refuses to translate must match a named deviation. */
function findRefusal({ go, ours }: Disagreement): Deviation | undefined {
  if (ours.stage !== 'translate' || go.stage === 'translate') return undefined;
  const paths = ours.report.filter(({ kind }) => kind === 'error').map(({ path }) => path);
  const named = paths.map((path) => DEVIATIONS.find(({ refuses }) => refuses?.test(path) === true));
  return named.includes(undefined) ? undefined : named[0];
}

/** The results must differ, and be the same without the named parts: one of them, or all together. */
function findOmission({ question, go, ours }: Disagreement): Deviation | undefined {
  if (go.stage !== 'done' || ours.config === null || sameWithout(go.result, ours.config, [])) return undefined;
  const omissions = DEVIATIONS.flatMap((deviation) => {
    const projection = deviation.leavesOut?.(question);
    return projection === undefined ? [] : [{ deviation, projection }];
  });
  const alone = omissions.find(({ projection }) => sameWithout(go.result, ours.config, [projection]));
  const all = omissions.map(({ projection }) => projection);
  return (alone ?? (sameWithout(go.result, ours.config, all) ? omissions[0] : undefined))?.deviation;
}

function sameWithout(go: unknown, ours: CaseOutcome['config'], projections: readonly Projection[]): boolean {
  if (ours === null) return false;
  const spec = specOf(ours.ignition.version);
  const [left, right] = [go, ours].map((config) =>
    canonical(
      projections.reduce((rest, leaveOut) => leaveOut(rest), config),
      spec,
    ),
  );
  return left === right;
}

/** Go read it, whatever the result; Slipway did not. */
const refusedByUs = (go: OracleResponse, ours: CaseOutcome) => ours.stage === 'decode' && go.stage !== 'decode';

const reportsAtTranslation = (go: OracleResponse, pattern: RegExp) =>
  go.stage === 'translate' && go.report.some(({ message }) => pattern.test(message));

function anyRaw({ configs }: Case, test: (raw: RawJson) => boolean): boolean {
  return configs.map(readRaw).some((raw) => raw !== undefined && test(raw));
}

const isTooLarge = (number: string) => /^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number));

function versionIn(text: string): string {
  return /"version":"([^"\\]*)"/.exec(text)?.[1] ?? '';
}

const KNOWN_KEYS = new Set<string>();
for (const version of SPEC_VERSIONS) collectKeys(specOf(version));
const FOLDED_KEYS = new Set([...KNOWN_KEYS].map(fold));

function collectKeys(shape: Shape): void {
  for (const [key, { kind }] of shape.entries) {
    KNOWN_KEYS.add(key);
    const inner = kind.type === 'list' ? kind.item : kind;
    if (inner.type === 'object') collectKeys(inner);
  }
}

function isRecased(key: string): boolean {
  return !KNOWN_KEYS.has(key) && FOLDED_KEYS.has(fold(key));
}

function fold(key: string): string {
  return key.toUpperCase().toLowerCase();
}
