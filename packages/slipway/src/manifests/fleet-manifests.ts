// Selects the objects that configure a fleet, and validates them like kube-apiserver.
import {
  configMaps,
  DEFAULT_NAMESPACE,
  type Kind,
  type MachineConfig,
  machineConfigKind,
  type MachineConfigPool,
  machineConfigPoolKind,
  MACHINE_CONFIGURATION_GROUP,
  OS_IMAGES_CONFIG_MAP,
  type OSImageStream,
  osImageStreamKind,
  type Problem,
  validate,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import type { CodedProblem } from '@slipway/fleet';
import { type ManifestDocument, placeFinding, placeOf, toCodedProblem } from './manifest-document.ts';

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
}

export type CollectedManifests = { ok: true; manifests: FleetManifests } | { ok: false; problems: CodedProblem[] };

/** Selects and validates the objects of a fleet, and counts the others. */
export function collectManifests(
  documents: Iterable<ManifestDocument>,
  namespace: string = DEFAULT_NAMESPACE,
): CollectedManifests {
  const collector = new Collector(namespace);
  for (const document of documents) collector.take(document);
  return collector.problems.length > 0
    ? { ok: false, problems: collector.problems }
    : { ok: true, manifests: collector.manifests };
}

class Collector {
  readonly problems: CodedProblem[] = [];
  readonly #namespace: string;
  readonly #machineConfigs = new Shelf<MachineConfig>(machineConfigKind);
  readonly #pools = new Shelf<MachineConfigPool>(machineConfigPoolKind);
  readonly #osImageStreams = new Shelf<OSImageStream>(osImageStreamKind);
  readonly #ignored = new Map<string, number>();
  #osImages: { document: ManifestDocument; images: OsImages; version: string | undefined } | undefined;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  get manifests(): FleetManifests {
    return {
      machineConfigs: this.#machineConfigs.objects,
      pools: this.#pools.objects,
      osImages: this.#osImages?.images,
      releaseVersion: this.#osImages?.version,
      osImageStream: this.#osImageStreams.objects[0],
      ignored: this.#ignored,
    };
  }

  take(document: ManifestDocument): void {
    const { value } = document;
    const header = parseHeader(value);
    const shelf = [this.#machineConfigs, this.#pools, this.#osImageStreams].find((each) => each.isFor(header));
    if (shelf !== undefined) this.problems.push(...shelf.put(document));
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
      this.problems.push(twice(document, name, this.#osImages.document));
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
        this.problems.push(manifestProblem(document, path, `${name}, ${path}: must be an image in quotes`));
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
class Shelf<T extends { metadata: { name: string } }> {
  readonly objects: T[] = [];
  readonly #kind: Kind<T>;
  readonly #documents = new Map<string, ManifestDocument>();

  constructor(kind: Kind<T>) {
    this.#kind = kind;
  }

  isFor({ group, kind }: Header): boolean {
    return group === MACHINE_CONFIGURATION_GROUP && kind === this.#kind.kind;
  }

  /** Adds an object, or returns its problems. */
  put(document: ManifestDocument): CodedProblem[] {
    const { value } = document;
    const checked = validate(this.#kind, value);
    const problems = [...(checked.ok ? [] : checked.problems), ...metadataProblems(value)];
    if (!checked.ok || problems.length > 0) return problems.map((each) => this.#problemAt(document, each));
    const { name } = checked.object.metadata;
    const before = this.#documents.get(name);
    if (before !== undefined) return [twice(document, `${this.#kind.kind} ${name}`, before)];
    this.#documents.set(name, document);
    this.objects.push(checked.object);
    return [];
  }

  #problemAt(document: ManifestDocument, { path, message }: Problem): CodedProblem {
    const { value } = document;
    const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
    const name = typeof metadata['name'] === 'string' ? ` ${metadata['name']}` : '';
    return manifestProblem(document, path, `${this.#kind.kind}${name}${path === '' ? '' : `, ${path}`}: ${message}`);
  }
}

/** kube-apiserver accepts only strings as values of labels and annotations. */
function metadataProblems(value: unknown): Problem[] {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  return ['labels', 'annotations'].flatMap((field) => {
    const texts = metadata[field];
    if (texts === undefined || texts === null) return [];
    const path = `metadata.${field}`;
    if (!isRecord(texts)) return [{ path, message: 'must be a map of strings' }];
    return Object.entries(texts)
      .filter(([, text]) => typeof text !== 'string')
      .map(([name, text]) => ({
        path: `${path}[${JSON.stringify(name)}]`,
        message: `must be a string, not ${isRecord(text) || Array.isArray(text) ? 'an object or a list' : String(text)}; write it in quotes`,
      }));
  });
}

export const manifestProblem = (document: ManifestDocument, field: string, message: string): CodedProblem =>
  toCodedProblem(placeFinding(document, { severity: 'error', code: 'SLW_CLI_MANIFEST', object: '', field, message }));

export const twice = (document: ManifestDocument, object: string, before: ManifestDocument): CodedProblem =>
  manifestProblem(document, '', `${object} is already in ${placeOf(before)}; remove one of them`);
