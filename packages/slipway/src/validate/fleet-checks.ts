// Checks over all files: duplicate objects, a second object of a singleton, and MachineConfigs that no pool selects. Keeps
// no contents.
import {
  featureGateKind,
  infrastructureKind,
  type Kind,
  machineConfigKind,
  type MachineConfigPool,
  machineConfigPoolKind,
  machineConfigurationKind,
  SINGLETON_NAME,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { missingPools } from '@slipway/fleet';
import { checkShape, type Finding, type LabelledMachineConfig, unselectedMachineConfigs } from '@slipway/fleet/check';
import type { DocumentVerdict } from '../manifests/check-document.ts';
import { manifestFinding } from '../manifests/fleet-manifests.ts';
import {
  formatPlace,
  type ManifestDocument,
  placeFinding,
  type PlacedFinding,
} from '../manifests/manifest-document.ts';

interface Entry {
  readonly machineConfig: LabelledMachineConfig;
  /** Without its contents. */
  readonly document: ManifestDocument;
}

export class FleetChecks {
  readonly #places = new Map<string, Pick<PlacedFinding, 'file' | 'position'>>();
  readonly #entries: Entry[] = [];
  readonly #given: MachineConfigPool[] = [];
  /** With the default pools. */
  #pools: readonly MachineConfigPool[] = missingPools([]);
  #hasInvalidPool = false;

  /** Adds an object and returns what is wrong with it in this fleet. */
  add(document: ManifestDocument, verdict: DocumentVerdict): PlacedFinding[] {
    const { kind, name: object } = verdict;
    const { name, namespace, labels, annotations } = readMetadata(document.value);
    if (name === undefined) return [];
    const identity = JSON.stringify([kind.group, kind.kind, kind.namespaced ? namespace : '', name]);
    const before = this.#places.get(identity);
    if (before !== undefined) {
      const place = formatPlace({ ...before, line: null });
      return [manifestFinding(document, object, '', `${object} is already in ${place}; remove one of them`)];
    }
    this.#places.set(identity, { file: document.file, position: document.position });
    if (kind.kind === machineConfigPoolKind.kind) this.#addPool(document.value);
    if (kind.kind === machineConfigKind.kind && !hasWrongLabels(verdict)) {
      this.#addMachineConfig(document, { metadata: { name, labels, annotations } });
    }
    return findOtherSingleton(document, verdict, name);
  }

  #addPool(value: unknown): void {
    const { object } = checkShape(machineConfigPoolKind, value);
    if (object === null) this.#hasInvalidPool = true;
    else {
      this.#given.push(object);
      this.#pools = [...this.#given, ...missingPools(this.#given.map(({ metadata }) => metadata.name))];
    }
  }

  #addMachineConfig(document: ManifestDocument, machineConfig: LabelledMachineConfig): void {
    const findings = unselectedMachineConfigs([machineConfig], this.#pools);
    const lines = new Map(findings.map(({ field }) => [field, document.findLine(field)]));
    this.#entries.push({ machineConfig, document: withLines(document, lines) });
  }

  /** Warnings about the fleet as a whole. */
  finish(): PlacedFinding[] {
    // It may be the one that selects them.
    if (this.#hasInvalidPool) return [];
    return this.#entries.flatMap(({ machineConfig, document }) =>
      unselectedMachineConfigs([machineConfig], this.#pools).map((finding) => placeFinding(document, finding)),
    );
  }
}

/** Kinds of which Slipway reads one object. The API server refuses a second MachineConfiguration and takes the others. */
const SINGLETONS: ReadonlyMap<Kind, Finding['severity']> = new Map<Kind, Finding['severity']>([
  [machineConfigurationKind, 'error'],
  [featureGateKind, 'warning'],
  [infrastructureKind, 'warning'],
]);

function findOtherSingleton(
  document: ManifestDocument,
  { kind, name: object, findings }: DocumentVerdict,
  name: string,
): PlacedFinding[] {
  const severity = SINGLETONS.get(kind);
  const field = 'metadata.name';
  if (severity === undefined || name === SINGLETON_NAME || findings.some((each) => each.field === field)) return [];
  const message = `${object}, ${field}: expected ${SINGLETON_NAME}: Slipway reads no other ${kind.kind}`;
  return [placeFinding(document, { severity, code: 'SLW_CLI_MANIFEST', object, field, message })];
}

/** Which pools select it is not known before they are right. */
const hasWrongLabels = ({ findings }: DocumentVerdict): boolean =>
  findings.some(({ severity, field }) => severity === 'error' && field.startsWith('metadata.labels'));

/** Lines that were found early: to find them at the end, the text of all files would have to stay in memory. */
const withLines = (document: ManifestDocument, lines: ReadonlyMap<string, number | null>): ManifestDocument => ({
  file: document.file,
  position: document.position,
  value: null,
  findLine: createLookup(lines),
});

/** In a scope without the document, which its function would keep in memory. */
const createLookup =
  (lines: ReadonlyMap<string, number | null>): ManifestDocument['findLine'] =>
  (field) =>
    lines.get(field) ?? null;

interface Metadata {
  readonly name: string | undefined;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

function readMetadata(value: unknown): Metadata {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  const { name, namespace, labels, annotations } = metadata;
  return {
    name: typeof name === 'string' ? name : undefined,
    namespace: typeof namespace === 'string' ? namespace : '',
    labels: stringsIn(labels),
    annotations: stringsIn(annotations),
  };
}

const stringsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(isRecord(value) ? value : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
