// Selects the objects that configure a fleet, and validates them like kube-apiserver.
import {
  configMaps,
  DEFAULT_NAMESPACE,
  type Kind,
  type MachineConfig,
  machineConfigKind,
  type MachineConfigPool,
  machineConfigPoolKind,
  OS_IMAGES_CONFIG_MAP,
  type OSImageStream,
  osImageStreamKind,
  RENDERED_PREFIX,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import type { CodedProblem } from '@slipway/fleet';
import { checkShape, isOfKind } from '@slipway/fleet/check';
import {
  errorsIn,
  type ManifestDocument,
  type PlacedFinding,
  placeFinding,
  placeOf,
  warningsIn,
} from './manifest-document.ts';

/** The images that the platform provides. */
export interface OsImages {
  osImageURL?: string;
  baseOSExtensionsContainerImage?: string;
}

export interface FleetManifests {
  machineConfigs: MachineConfig[];
  pools: MachineConfigPool[];
  /** Undefined if there is no ConfigMap with OS images. */
  osImages: OsImages | undefined;
  /** Version of the platform, from the same ConfigMap. */
  releaseVersion: string | undefined;
  /** Its CRD allows only one. */
  osImageStream: OSImageStream | undefined;
  /** Number of other objects by kind. */
  ignored: ReadonlyMap<string, number>;
  /** What may be wrong, one sentence each. */
  warnings: readonly string[];
  /** Where each MachineConfig and pool is, for problems with it. */
  documents: ReadonlyMap<object, ManifestDocument>;
}

export type CollectedManifests = { ok: true; manifests: FleetManifests } | { ok: false; problems: CodedProblem[] };

/** Selects and validates the objects of a fleet, and counts the others. */
export function collectManifests(
  documents: Iterable<ManifestDocument>,
  namespace: string = DEFAULT_NAMESPACE,
): CollectedManifests {
  const collector = new Collector(namespace);
  for (const document of documents) collector.take(document);
  const { problems } = collector;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, manifests: collector.manifests };
}

class Collector {
  readonly #findings: PlacedFinding[] = [];
  readonly #namespace: string;
  readonly #machineConfigs = new Shelf<MachineConfig>(machineConfigKind);
  readonly #pools = new Shelf<MachineConfigPool>(machineConfigPoolKind);
  readonly #osImageStreams = new Shelf<OSImageStream>(osImageStreamKind);
  readonly #ignored = new Map<string, number>();
  #osImages: { document: ManifestDocument; images: OsImages; version: string | undefined } | undefined;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  get problems(): CodedProblem[] {
    return errorsIn(this.#findings);
  }

  get manifests(): FleetManifests {
    return {
      machineConfigs: this.#machineConfigs.objects,
      pools: this.#pools.objects,
      osImages: this.#osImages?.images,
      releaseVersion: this.#osImages?.version,
      osImageStream: this.#osImageStreams.objects[0],
      ignored: this.#ignored,
      warnings: warningsIn(this.#findings),
      documents: new Map<object, ManifestDocument>([...this.#machineConfigs.documents, ...this.#pools.documents]),
    };
  }

  take(document: ManifestDocument): void {
    const { value } = document;
    const header = parseHeader(value);
    const shelf = [this.#machineConfigs, this.#pools, this.#osImageStreams].find((each) => each.isFor(header));
    if (shelf !== undefined) this.#findings.push(...shelf.put(document));
    else if (header.kind === configMaps.kind && this.#isOsImages(value)) this.#takeOsImages(document);
    else this.#ignored.set(header.kind, (this.#ignored.get(header.kind) ?? 0) + 1);
  }

  #isOsImages(value: unknown): boolean {
    const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
    const { name, namespace } = metadata;
    return name === OS_IMAGES_CONFIG_MAP && (namespace === undefined || namespace === this.#namespace);
  }

  #takeOsImages(document: ManifestDocument): void {
    const { value } = document;
    const name = `ConfigMap ${OS_IMAGES_CONFIG_MAP}`;
    if (this.#osImages !== undefined) {
      this.#findings.push(twice(document, name, this.#osImages.document));
      return;
    }
    const data = isRecord(value) && isRecord(value['data']) ? value['data'] : {};
    const images: OsImages = {};
    for (const [key, field] of [
      ['baseOSContainerImage', 'osImageURL'],
      ['baseOSExtensionsContainerImage', 'baseOSExtensionsContainerImage'],
    ] as const) {
      const image = data[key];
      if (typeof image === 'string' && image !== '') images[field] = image;
      else if (image !== undefined && image !== '') {
        const path = `data.${key}`;
        this.#findings.push(manifestFinding(document, name, path, `${name}, ${path}: must be an image in quotes`));
      }
    }
    const { releaseVersion } = data;
    this.#osImages = { document, images, version: typeof releaseVersion === 'string' ? releaseVersion : undefined };
  }
}

interface Header {
  group: string;
  kind: string;
}

/** The group and kind of an object; `no kind` if it has none. */
export function parseHeader(value: unknown): Header {
  const { apiVersion, kind } = isRecord(value) ? value : {};
  const group = typeof apiVersion === 'string' && apiVersion.includes('/') ? (apiVersion.split('/', 1)[0] ?? '') : '';
  return { group, kind: typeof kind === 'string' && kind !== '' ? kind : 'no kind' };
}

/** The objects of one kind, each name once. */
export class Shelf<T extends { metadata: { name: string } }> {
  readonly documents = new Map<T, ManifestDocument>();
  readonly #kind: Kind<T>;
  readonly #byName = new Map<string, ManifestDocument>();

  constructor(kind: Kind<T>) {
    this.#kind = kind;
  }

  get objects(): T[] {
    return [...this.documents.keys()];
  }

  isFor({ group, kind }: Header): boolean {
    return group === this.#kind.group && kind === this.#kind.kind;
  }

  /** Adds an object if it has no errors. */
  put(document: ManifestDocument): PlacedFinding[] {
    const { name: object, object: checked, findings } = checkShape(this.#kind, asStored(document.value));
    const placed = findings.map((finding) => placeFinding(document, finding));
    if (checked === null) return placed;
    const { name } = checked.metadata;
    const before = this.#byName.get(name);
    if (before !== undefined) return [...placed, twice(document, object, before)];
    // Without the value: the object has what is needed of it.
    const place = { ...document, value: null };
    this.#byName.set(name, place);
    this.documents.set(checked, place);
    return placed;
  }
}

/**
 * A rendered MachineConfig is not an input of users, but the result of a controller or of `slipway render`: it is judged
 * as in a dump of a cluster.
 */
function asStored(value: unknown): unknown {
  if (!isOfKind(machineConfigKind, value) || !isRecord(value) || !isRecord(value['metadata'])) return value;
  const { name } = value['metadata'];
  if (typeof name !== 'string' || !name.startsWith(RENDERED_PREFIX)) return value;
  return { ...value, metadata: { resourceVersion: '', ...value['metadata'] } };
}

export const manifestFinding = (
  document: ManifestDocument,
  object: string,
  field: string,
  message: string,
): PlacedFinding => placeFinding(document, { severity: 'error', code: 'SLW_CLI_MANIFEST', object, field, message });

const twice = (document: ManifestDocument, object: string, before: ManifestDocument): PlacedFinding =>
  manifestFinding(document, object, '', `${object} is already in ${placeOf(before)}; remove one of them`);
