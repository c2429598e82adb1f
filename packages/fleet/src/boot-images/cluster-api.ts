// Machines of Cluster API: what a MachineSet or MachineDeployment and its infrastructure template specify, and the
// clones of templates that carry another image.
import {
  clonedFromAnnotation,
  type ClusterApiMachineSet,
  type Infrastructure,
  type MachineDeployment,
  type Resource,
} from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { type KubeObject, MANAGED_BY_SLIPWAY, MANAGED_BY_LABEL } from '../kube-object.ts';
import { canonicalJson } from '../render/rendered-name.ts';
import { detectArchitecture, type ArchitectureSource } from './architecture.ts';
import type { MachineContext, MachineReading } from './facts.ts';
import { isClusterOwner } from './owner.ts';
import { fieldAt, isJsonObject, objectAt, shown, textAt, type Json, type JsonObject } from './json.ts';
import {
  isTemplateKind,
  platformDefs,
  templateKind,
  type TemplateKindName,
  templateKinds,
  templateRule,
} from './platforms/index.ts';
import type { MachineResource } from './verdict.ts';

export const INFRASTRUCTURE_GROUP = 'infrastructure.cluster.x-k8s.io';

export type ClusterApiMachines = Pick<ClusterApiMachineSet | MachineDeployment, 'metadata' | 'spec'>;

export interface ClusterApiContext extends MachineContext {
  /** Infrastructure `cluster`: the region of the machines; '' if unknown. */
  readonly region: string;
}

export function readRegion(infrastructure: Pick<Infrastructure, 'status'> | undefined): string {
  const status = infrastructure?.status?.platformStatus ?? {};
  return platformDefs.map(({ regionIn }) => regionIn?.(status)).find((region) => region !== undefined) ?? '';
}

/** The value was parsed from JSON. */
const toJson = (value: unknown): Json | undefined => value as Json | undefined;

export const readTemplateReference = (
  resource: Pick<MachineResource, 'namespace'>,
  { spec }: ClusterApiMachines,
): ReadReference => templateReference(resource, toJson(spec));

/** What a new template means for existing machines; '' if nothing. */
export const describeReplacement = (kind: MachineResource['kind'], { spec }: ClusterApiMachines): string =>
  replacementNote(kind, toJson(spec));

/** Name of the Secret with user data; null if a bootstrap provider creates it and owns its content. */
export function readClusterApiUserData({ spec }: ClusterApiMachines): string | null {
  const { configRef, dataSecretName = '' } = spec?.template?.spec?.bootstrap ?? {};
  return dataSecretName === '' && configRef !== undefined ? null : dataSecretName;
}

type ReadTemplate = { readonly apiVersion?: string; readonly spec?: unknown };

/** Which version of a template to read. `crdLabels`: the labels of its CRD. */
type TemplateQuestion =
  | { readonly ok: true; readonly reference: TemplateReference; readonly version: string; readonly plural: string }
  | { readonly ok: false; readonly reading: MachineReading };

export function templateQuestion(
  read: ReadReference,
  crdLabels: (plural: string) => Readonly<Record<string, string>>,
): TemplateQuestion {
  if (!read.ok) return { ok: false, reading: { ok: false, platform: null, code: read.code, message: read.message } };
  const { reference } = read;
  const { platform, plural, versions } = templateKind(reference.kind);
  const version = templateVersion(reference, crdLabels(plural));
  if (version !== null && versions.includes(version)) return { ok: true, reference, version, plural };
  const message = `${reference.kind} ${reference.name}: expected version ${versions.join(' or ')}, found ${version ?? 'no version in the reference or in the CRD labels'}. Opt the machines out of boot image updates`;
  return { ok: false, reading: { ok: false, platform, code: 'SLW_BOOT_IMAGES_TEMPLATE', message } };
}

/** `template`: undefined if it does not exist. */
export function readTemplate(
  machines: ClusterApiMachines,
  { reference, version }: Extract<TemplateQuestion, { ok: true }>,
  template: ReadTemplate | undefined,
  context: ClusterApiContext,
): MachineReading {
  const { platform, imagePaths } = templateKind(reference.kind);
  const refused = (message: string): MachineReading => ({
    ok: false,
    platform,
    code: 'SLW_BOOT_IMAGES_TEMPLATE',
    message,
  });
  const name = `${reference.kind} ${reference.namespace}/${reference.name}`;
  if (template === undefined) return refused(`${name} does not exist: point infrastructureRef to an existing template`);
  const spec = fieldAt(toJson(template.spec), 'template', 'spec');
  if (!isJsonObject(spec))
    return refused(`${name}: spec.template.spec: expected the spec of a machine, found ${shown(spec)}`);
  const failureDomain = machines.spec?.template?.spec?.failureDomain ?? '';
  const rule = templateRule(reference.kind, version, { region: context.region, failureDomain });
  if (rule === null) return refused(`${name}: version ${version} is not supported`);
  const architecture = detectArchitecture(toArchitectureSource(machines), { ...context, platform });
  return { ok: true, platform, architecture, spec, rule, imagePaths };
}

const toArchitectureSource = ({ metadata, spec }: ClusterApiMachines): ArchitectureSource => ({
  metadata,
  spec: { template: { metadata: spec?.template?.metadata } },
});

/**
 * What a new template means for existing machines; '' for a MachineSet, which uses it for new machines only. `spec`:
 * the resource's, in v1beta1 or v1beta2.
 */
export function replacementNote(kind: MachineResource['kind'], spec: Json | undefined): string {
  if (kind === 'MachineSet') return '';
  if (fieldAt(spec, 'paused') === true) return 'it is paused: existing machines are replaced once it is resumed';
  const strategy = textAt(spec, 'rollout', 'strategy', 'type') || textAt(spec, 'strategy', 'type');
  return strategy === 'OnDelete'
    ? 'existing machines stay until you delete them (strategy OnDelete)'
    : 'existing machines are replaced gradually (strategy RollingUpdate)';
}

// The reference to the infrastructure template, in both of its formats.

interface TemplateReference {
  readonly kind: TemplateKindName;
  readonly namespace: string;
  readonly name: string;
  /** Null: the labels of the CRD specify it. */
  readonly version: string | null;
}

type ReadReference =
  | {
      readonly ok: true;
      readonly reference: TemplateReference;
      /** Name of the Secret with user data; '' if a bootstrap provider creates it. */
      readonly dataSecretName: string;
    }
  | { readonly ok: false; readonly code: 'SLW_BOOT_IMAGES_SPEC'; readonly message: string };

const DNS_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
const PATH = 'spec.template.spec.infrastructureRef';

/** `spec`: of the MachineSet or MachineDeployment. */
export function templateReference(resource: Pick<MachineResource, 'namespace'>, spec: Json | undefined): ReadReference {
  const found = fieldAt(spec, 'template', 'spec', 'infrastructureRef');
  if (!isJsonObject(found)) return refused(PATH, 'a reference to an infrastructure template', found);
  const { group, version } = parseGroup(found);
  const [kind, name] = [textAt(found, 'kind'), textAt(found, 'name')];
  if (group !== INFRASTRUCTURE_GROUP) return refused(PATH, `a template of ${INFRASTRUCTURE_GROUP}`, found);
  if (!isTemplateKind(kind))
    return refused(`${PATH}.kind`, `one of ${templateKinds.map((each) => each.kind).join(', ')}`, found['kind']);
  if (!DNS_NAME.test(name)) return refused(`${PATH}.name`, 'the name of a template', found['name']);
  // Cluster API only resolves templates in the namespace of the object that references them.
  const namespace = textAt(found, 'namespace') || resource.namespace;
  if (namespace !== resource.namespace) return refused(`${PATH}.namespace`, resource.namespace, namespace);
  const dataSecretName = textAt(spec, 'template', 'spec', 'bootstrap', 'dataSecretName');
  return { ok: true, reference: { kind, namespace, name, version }, dataSecretName };
}

/** In v1beta1 the reference has group and version, in v1beta2 only the group. */
function parseGroup(reference: Json): { readonly group: string; readonly version: string | null } {
  const [group = '', version = ''] = textAt(reference, 'apiVersion').split('/');
  return version === '' ? { group: textAt(reference, 'apiGroup'), version: null } : { group, version };
}

const refused = (at: string, expected: string, found: Json | undefined): ReadReference => ({
  ok: false,
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `${at}: expected ${expected}, found ${shown(found)}. Correct it, or opt the machines out of boot image updates.`,
});

/** The contracts of Cluster API: a provider labels its CRDs with the versions that implement one. */
const contracts = ['v1beta2', 'v1beta1'] as const;
const MAX_LABEL = 63;

/**
 * The version to read a template in: the referenced one if the provider implements it, else the newest that the
 * provider implements and we can read. A referenced version may no longer be served. Null: unspecified.
 */
export function templateVersion(
  { kind, version }: TemplateReference,
  crdLabels: Readonly<Record<string, string>>,
): string | null {
  const labels = contracts.map((contract) => crdLabels[`cluster.x-k8s.io/${contract}`] ?? '');
  const kept = new Set(labels.flatMap((label) => label.slice(0, MAX_LABEL).split('_')));
  if (version !== null && kept.has(version)) return version;
  return templateKind(kind).versions.findLast((each) => kept.has(each)) ?? version;
}

// Templates are immutable: another image needs another template, named after its content.

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface MachineTemplate {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly OwnerReference[];
  };
  readonly spec: JsonObject;
}

/** A template as an API object, of a kind that an infrastructure provider defines. */
export interface InfrastructureTemplate extends KubeObject {
  spec?: unknown;
}

type TemplateResource = Omit<Resource<InfrastructureTemplate>, 'kind'> & { readonly kind: TemplateKindName };

export const toTemplateResource = (kind: TemplateKindName, version: string): TemplateResource => ({
  group: INFRASTRUCTURE_GROUP,
  version,
  kind,
  plural: templateKind(kind).plural,
  namespaced: true,
});

/** The form that cloneTemplate takes. */
export function machineTemplate(
  { metadata, spec }: InfrastructureTemplate,
  { group, version, kind }: Pick<Resource<unknown>, 'group' | 'version' | 'kind'>,
): MachineTemplate {
  const { name, namespace = '', labels, annotations, ownerReferences } = metadata;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: {
      name,
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
    spec: isJsonObject(spec) ? spec : {},
  };
}

/** On a template that we created: a digest of what we wrote; the server may add defaults. */
export const TEMPLATE_DIGEST_ANNOTATION = 'slipway.dev/template-digest';

const DIGITS = 8;
const MAX_NAME = 253;

/** Tools use these to recognise their objects, and prune those that are not in their source. */
const TOOLS =
  /^(?:argocd\.argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io|(?:meta\.)?helm\.sh|kubectl\.kubernetes\.io|kapp\.k14s\.io)\/|^app\.kubernetes\.io\/(?:instance|managed-by)$|^slipway\.dev\//;

/** `spec`: the desired spec.template.spec. The same spec always gets the same name. */
export function cloneTemplate(template: MachineTemplate, spec: JsonObject): MachineTemplate {
  const { apiVersion, kind, metadata } = template;
  const whole = { ...template.spec, template: { ...objectAt(template.spec, 'template'), spec } };
  const digest = sha256(canonicalJson({ kind, spec: whole }));
  const base = originalName(template);
  const owners = (metadata.ownerReferences ?? []).filter(isClusterOwner);
  return {
    apiVersion,
    kind,
    metadata: {
      name: formatCloneName(base, digest.slice(0, DIGITS)),
      namespace: metadata.namespace,
      labels: { ...withoutTools(metadata.labels), [MANAGED_BY_LABEL]: MANAGED_BY_SLIPWAY },
      annotations: {
        ...withoutTools(metadata.annotations),
        [clonedFromAnnotation]: base,
        [TEMPLATE_DIGEST_ANNOTATION]: digest,
      },
      ...(owners.length > 0 && { ownerReferences: owners }),
    },
    spec: whole,
  };
}

/** A clone of a clone is named after the first original, so that names do not grow. */
function originalName({ metadata }: MachineTemplate): string {
  const from = metadata.annotations?.[clonedFromAnnotation] ?? '';
  return isOurTemplate({ metadata }) && DNS_NAME.test(from) ? from : metadata.name;
}

const formatCloneName = (base: string, digits: string): string =>
  `${base.slice(0, MAX_NAME - DIGITS - 1).replace(/[-.]+$/, '')}-${digits}`;

const isOurTemplate = ({ metadata: { labels } }: Pick<MachineTemplate, 'metadata'>): boolean =>
  labels?.[MANAGED_BY_LABEL] === MANAGED_BY_SLIPWAY;

export const withoutTools = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !TOOLS.test(name)));

/** Whether an existing object with a clone's name is that clone: created by us from the same content, and unchanged. */
export const isSameClone = (existing: MachineTemplate, clone: MachineTemplate): boolean =>
  isOurTemplate(existing) &&
  existing.metadata.annotations?.[TEMPLATE_DIGEST_ANNOTATION] ===
    clone.metadata.annotations?.[TEMPLATE_DIGEST_ANNOTATION] &&
  holds(existing.spec, clone.spec);

/** Whether `all` contains `some`; the server may have added defaults. */
function holds(all: Json | undefined, some: Json): boolean {
  if (Array.isArray(some)) {
    return Array.isArray(all) && all.length === some.length && some.every((item, at) => holds(all[at], item));
  }
  // The server omits null fields.
  if (some === null) return all === null || all === undefined;
  if (!isJsonObject(some)) return all === some;
  return (
    isJsonObject(all) &&
    Object.entries(some).every(([key, value]) => holds(Object.hasOwn(all, key) ? all[key] : undefined, value))
  );
}

/** Writes templates of one kind. */
export interface TemplateWriter {
  /** False: one with that name exists. */
  create(this: void, template: InfrastructureTemplate): Promise<boolean>;
  get(this: void, name: { namespace: string; name: string }): Promise<InfrastructureTemplate>;
}

/** Another object has the name of a clone. */
export class CloneTakenError extends Error {
  override readonly name = 'CloneTakenError';
  readonly code = 'SLW_BOOT_IMAGES_TEMPLATE';

  constructor({ kind, metadata }: MachineTemplate) {
    super(
      `${kind} ${metadata.namespace}/${metadata.name}: expected Slipway's clone of a template with the new image, found a different object with that name. Delete or rename it`,
    );
  }
}

/** Creates the clone. An existing one is left over from a run that was killed before it set the reference. */
export async function makeClone(clone: MachineTemplate, { create, get }: TemplateWriter): Promise<void> {
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = clone.metadata;
  const metadata = {
    name,
    namespace,
    labels: { ...labels },
    annotations: { ...annotations },
    ownerReferences: [...ownerReferences],
  };
  if (await create({ metadata, spec: clone.spec })) return;
  const existing = await get({ namespace, name });
  const [group = '', version = ''] = clone.apiVersion.split('/');
  const isIt =
    existing.metadata.deletionTimestamp === undefined &&
    isSameClone(machineTemplate(existing, { group, version, kind: clone.kind }), clone);
  if (!isIt) throw new CloneTakenError(clone);
}

export interface KeptTemplate extends Pick<MachineTemplate, 'kind'> {
  readonly metadata: MachineTemplate['metadata'] & {
    readonly creationTimestamp?: string | undefined;
    readonly deletionTimestamp?: string | undefined;
  };
}

export interface NamedTemplate {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** A clone is created before it is referenced: a younger one may be in use without our knowledge. */
export const GRACE_MS = 10 * 60_000;

/**
 * The templates to delete: created by us, old enough, and unreferenced. `references`: of all MachineSets and
 * MachineDeployments, including old revisions and opted-out ones. Never pass a list that was only partly read.
 */
export function collectableTemplates<T extends KeptTemplate>(
  templates: readonly T[],
  references: readonly NamedTemplate[],
  now: number,
): T[] {
  const inUse = new Set(references.map(keyOf));
  return templates.filter(
    (template) =>
      isOurTemplate(template) &&
      isOld(template, now) &&
      !inUse.has(keyOf({ kind: template.kind, ...template.metadata })),
  );
}

const keyOf = ({ kind, namespace, name }: NamedTemplate): string => `${kind} ${namespace}/${name}`;

/** A template of unknown age counts as young. */
const isOld = ({ metadata }: KeptTemplate, now: number): boolean =>
  metadata.deletionTimestamp === undefined && Date.parse(metadata.creationTimestamp ?? '') <= now - GRACE_MS;
