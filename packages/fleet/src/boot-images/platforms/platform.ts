// What a platform is: where its machines have their boot image, in both machine APIs. And what platforms have in common.
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
} from '../verdict.ts';
import { templateCommands } from './import.ts';

export interface PlatformDef {
  /** As Infrastructure `cluster` names it, in lower case. */
  readonly type: Platform;
  /** What providerSpec.value of a MachineSet of the Machine API is there. */
  readonly providerSpec: ProviderSpecForm;
  readonly machineApi: ImageRule;
  /** Its infrastructure template of Cluster API; left out: there is none that we know. */
  readonly clusterApi?: TemplateForm;
  /** Of all its machines; left out: they may be of any. */
  readonly architecture?: Architecture;
  /** The cloud in stream metadata, where images are named by ids that tell nothing of them. */
  readonly imageIds?: string;
  /** Where the machines are, by Infrastructure `cluster`; left out: it does not say, or nobody needs to know. */
  readonly regionIn?: (status: PlatformStatus) => string | undefined;
}

type PlatformStatus = NonNullable<NonNullable<Infrastructure['status']>['platformStatus']>;

interface ProviderSpecForm {
  readonly kind: string;
  /** The last is what new clusters have, those before it are of the time when each provider had its own group. */
  readonly apiVersions: readonly string[];
  /** Where the name of the Secret with user data is; userDataSecret.name by default. */
  readonly userData?: readonly [string, ...string[]];
}

interface TemplateForm {
  readonly kind: string;
  /** By version: what is a form of its own has a rule of its own. */
  readonly rules: Readonly<Record<string, TemplateRule>>;
}

/** `spec`: spec.template.spec of the template. */
export type TemplateRule = (spec: JsonObject, question: ImageQuestion, place: TemplatePlace) => ImageVerdict;

/** What a template does not say of its machines; '' where it is not known. */
export interface TemplatePlace {
  /** By Infrastructure `cluster`. */
  readonly region: string;
  /** By the MachineSet or MachineDeployment. */
  readonly failureDomain: string;
}

/** The name of a kind of templates in addresses of the API. */
export const pluralOfTemplate = (kind: string): string => `${kind.toLowerCase()}s`;

// Clouds where an image has an id of its own in every region, and the id says nothing of the image.

interface RegionImage {
  readonly id: string;
  readonly version: string;
}

/** `cloud`: as stream metadata names it. */
function regionImage(images: JsonObject, cloud: string, region: string): RegionImage | null {
  const id = textAt(images, 'images', cloud, 'regions', region, 'image');
  return id === '' ? null : { id, version: textAt(images, 'images', cloud, 'regions', region, 'release') };
}

export const hasRegions = (images: JsonObject, cloud: string): boolean =>
  isJsonObject(fieldAt(images, 'images', cloud, 'regions'));

interface RegionChoice {
  readonly cloud: string;
  readonly region: string;
  /** Id in the spec; '': the spec names its image in another way, `text` says it for people. */
  readonly current: string;
  readonly text: string;
  readonly change: (id: string) => JsonObject;
}

export function judgeRegionImage(choice: RegionChoice, question: ImageQuestion): ImageVerdict {
  const { cloud, region, current, text } = choice;
  const target = regionImage(question.images, cloud, region);
  if (target !== null && current === target.id) return { type: 'current', image: current, version: target.version };
  if (!question.isAdopted && !question.knownImages.has(current)) return notOurs(text, whyNotOurs(choice, question));
  if (target !== null) {
    return { type: 'change', image: text, to: target.id, version: target.version, spec: choice.change(target.id) };
  }
  if (!hasRegions(question.images, cloud)) return noImage(text, question, `images.${cloud}`);
  return noRegion(text, region, Object.keys(objectAt(question.images, 'images', cloud, 'regions')));
}

function whyNotOurs({ current, text }: RegionChoice, { images }: ImageQuestion): string {
  if (current === '') return `The image is found by ${text}, which is the owner's own choice.`;
  const licensed = Object.values(objectAt(images, 'rhel-coreos-extensions', 'aws-winli', 'regions'));
  return licensed.some((region) => textAt(region, 'image') === current)
    ? `Image ${current} carries a licence of Windows.`
    : `Image ${current} was in no release that this cluster has seen: it may be of the marketplace, or somebody's own.`;
}

// The image in an infrastructure template: another form of what a providerSpec says, so the rule of the platform is one, and
// here is only where the template has what.

/** A template seen as a providerSpec. Fields are those of spec.template.spec that change; null takes one away. */
interface ProviderSpecView {
  /** Of the template. */
  readonly kind: string;
  readonly rule: ImageRule;
  readonly providerSpec: JsonObject;
  /** The image for people; left out: as the rule has it. */
  readonly image?: string;
  /** After a change: out of the changed providerSpec. Platforms where images are imported know none. */
  readonly changed?: (providerSpec: JsonObject) => JsonObject;
  /** For what a person has imported under a name. */
  readonly imported: (name: string) => JsonObject;
}

export function judgeView(spec: JsonObject, view: ProviderSpecView, question: ImageQuestion): ImageVerdict {
  const verdict = view.rule(view.providerSpec, question);
  const image = view.image ?? verdict.image;
  if (verdict.type === 'change') {
    return { ...verdict, image, spec: withFields(spec, view.changed?.(verdict.spec) ?? {}) };
  }
  if (verdict.type !== 'manual') return { ...verdict, image };
  // The last command of a rule lets a MachineSet of the Machine API use the image; the others bring it to the platform.
  const toImport = verdict.commands.slice(0, -1);
  const fields = view.imported(verdict.to);
  const toUse = templateCommands(question.resource, pluralOfTemplate(view.kind), verdict.artifact.version, fields);
  return { ...verdict, image, commands: [...toImport, ...toUse] };
}

/** Nothing else changes, not even the order of fields. */
function withFields(spec: JsonObject, fields: JsonObject): JsonObject {
  const isGone = (key: string): boolean => Object.hasOwn(fields, key) && fields[key] === null;
  return Object.fromEntries(Object.entries({ ...spec, ...fields }).filter(([key]) => !isGone(key)));
}

/** The name that the image of the installer would have; for images that are named by something that tells nothing. */
export const ownImageName = ({ infrastructureName, resource }: ImageQuestion): string =>
  `${infrastructureName || resource.name}-rhcos`;
