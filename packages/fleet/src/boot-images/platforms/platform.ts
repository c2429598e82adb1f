// The definition of a platform: where its machines specify their boot image, in both machine APIs.
import type { Infrastructure } from '@slipway/api';
import { fieldAt, isJsonObject, type JsonObject, objectAt, textAt } from '../json.ts';
import {
  type Architecture,
  type ImageQuestion,
  type ImageRule,
  type ImageVerdict,
  noImage,
  noRegion,
  notOurs,
  type Platform,
  unknownImage,
} from '../verdict.ts';
import { templateCommands } from './import.ts';

export interface PlatformDef {
  /** As Infrastructure `cluster` names it, in lower case. */
  readonly type: Platform;
  /** The format of providerSpec.value in a MachineSet of the Machine API. */
  readonly providerSpec: ProviderSpecForm;
  readonly machineApi: ImageRule;
  /** Its infrastructure template of Cluster API; omitted if we support none. */
  readonly clusterApi?: TemplateForm;
  /** The architecture of all its machines; omitted if there are several. */
  readonly architecture?: Architecture;
  /** The cloud in stream metadata, if opaque ids identify its images. */
  readonly imageIds?: string;
  /** The region of the machines, from Infrastructure `cluster`; omitted if it is not specified there or not needed. */
  readonly regionIn?: (status: PlatformStatus) => string | undefined;
}

type PlatformStatus = NonNullable<NonNullable<Infrastructure['status']>['platformStatus']>;

/**
 * The paths of all fields of a spec that select its image, also those that only other images need: with the values of
 * all of them, an image can be set in any spec. An index of a list is written as a key.
 */
export type ImagePaths = (spec: JsonObject) => readonly (readonly string[])[];

/** For fields at the top of a spec. */
export const imageFields =
  (...names: readonly string[]): ImagePaths =>
  () =>
    names.map((name) => [name]);

interface ProviderSpecForm {
  readonly kind: string;
  readonly imagePaths: ImagePaths;
  /** The last one is used by new clusters; earlier ones date from when each provider had its own group. */
  readonly apiVersions: readonly string[];
  /** Path to the name of the Secret with user data; userDataSecret.name by default. */
  readonly userData?: readonly [string, ...string[]];
}

interface TemplateForm {
  readonly kind: string;
  readonly imagePaths: ImagePaths;
  /** By version: each format has its own rule. */
  readonly rules: Readonly<Record<string, TemplateRule>>;
}

/** `spec`: spec.template.spec of the template. */
export type TemplateRule = (spec: JsonObject, question: ImageQuestion, place: TemplatePlace) => ImageVerdict;

/** What a template does not specify for its machines; '' if unknown. */
export interface TemplatePlace {
  /** From Infrastructure `cluster`. */
  readonly region: string;
  /** From the MachineSet or MachineDeployment. */
  readonly failureDomain: string;
}

/** The plural of a template kind in API paths. */
export const pluralOfTemplate = (kind: string): string => `${kind.toLowerCase()}s`;

// Clouds where an image has a different, opaque id in every region.

interface RegionImage {
  readonly id: string;
  readonly version: string;
}

/** `cloud`: as named in stream metadata. */
function regionImage(images: JsonObject, cloud: string, region: string): RegionImage | null {
  const id = textAt(images, 'images', cloud, 'regions', region, 'image');
  return id === '' ? null : { id, version: textAt(images, 'images', cloud, 'regions', region, 'release') };
}

export const hasRegions = (images: JsonObject, cloud: string): boolean =>
  isJsonObject(fieldAt(images, 'images', cloud, 'regions'));

interface RegionChoice {
  readonly cloud: string;
  readonly region: string;
  /** Id in the spec; '' if the spec selects its image in another way: `text` describes it. */
  readonly current: string;
  readonly text: string;
  readonly change: (id: string) => JsonObject;
}

export function judgeRegionImage(choice: RegionChoice, question: ImageQuestion): ImageVerdict {
  const { cloud, region, current, text } = choice;
  const target = regionImage(question.images, cloud, region);
  if (target !== null && current === target.id) return { type: 'current', image: current, version: target.version };
  if (!question.isAdopted && !question.knownImages.has(current)) return judgeUnlisted(choice, question);
  if (target !== null) {
    return { type: 'change', image: text, to: target.id, version: target.version, spec: choice.change(target.id) };
  }
  if (!hasRegions(question.images, cloud)) return noImage(text, question, `images.${cloud}`);
  return noRegion(text, region, Object.keys(objectAt(question.images, 'images', cloud, 'regions')));
}

/** An image that no release of this cluster had since Slipway was installed. */
function judgeUnlisted({ current, text }: RegionChoice, question: ImageQuestion): ImageVerdict {
  if (current === '') return notOurs(text, `The image is selected by ${text}, which is user-managed.`);
  const licensed = Object.values(objectAt(question.images, 'rhel-coreos-extensions', 'aws-winli', 'regions'));
  return licensed.some((region) => textAt(region, 'image') === current)
    ? notOurs(text, `Image ${current} includes a Windows licence.`)
    : unknownImage(current, question);
}

// The image in an infrastructure template: the same data as a providerSpec in another format. So each platform has one
// rule, and this code only maps the fields.

/** A template mapped to a providerSpec. Fields are the changed ones of spec.template.spec; null removes a field. */
interface ProviderSpecView {
  /** Of the template. */
  readonly kind: string;
  readonly rule: ImageRule;
  readonly providerSpec: JsonObject;
  /** The image, human-readable; by default the one from the rule. */
  readonly image?: string;
  /** The fields after a change, from the changed providerSpec. Omitted on platforms where users import images. */
  readonly changed?: (providerSpec: JsonObject) => JsonObject;
  /** The fields for an image that a user imported under a name. */
  readonly imported: (name: string) => JsonObject;
}

export function judgeView(spec: JsonObject, view: ProviderSpecView, question: ImageQuestion): ImageVerdict {
  const verdict = view.rule(view.providerSpec, question);
  const image = view.image ?? verdict.image;
  if (verdict.type === 'change') {
    return { ...verdict, image, spec: withFields(spec, view.changed?.(verdict.spec) ?? {}) };
  }
  if (verdict.type !== 'manual') return { ...verdict, image };
  // The last command of a rule patches a MachineSet of the Machine API; the others import the image into the platform.
  const toImport = verdict.commands.slice(0, -1);
  const fields = view.imported(verdict.to);
  const toUse = templateCommands(question.resource, pluralOfTemplate(view.kind), verdict.artifact.version, fields);
  return { ...verdict, image, commands: [...toImport, ...toUse] };
}

/** Changes nothing else, not even the order of fields. */
function withFields(spec: JsonObject, fields: JsonObject): JsonObject {
  const isGone = (key: string): boolean => Object.hasOwn(fields, key) && fields[key] === null;
  return Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(([key]) => !isGone(key)));
}

/** The name that the installer would give the image, where the spec has only an opaque id. */
export const ownImageName = ({ infrastructureName, resource }: ImageQuestion): string =>
  `${infrastructureName || resource.name}-rhcos`;
