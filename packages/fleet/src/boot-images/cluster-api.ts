// What a MachineSet or MachineDeployment of Cluster API says of its machines, with the template that it refers to; and templates
// of ours, with another image.
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
  /** Infrastructure `cluster`: where the machines are; '' where it is not known. */
  readonly region: string;
}

export function readRegion(infrastructure: Pick<Infrastructure, 'status'> | undefined): string {
  const status = infrastructure?.status?.platformStatus ?? {};
  return platformDefs.map(({ regionIn }) => regionIn?.(status)).find((region) => region !== undefined) ?? '';
}

/** It came out of JSON. */
const toJson = (value: unknown): Json | undefined => value as Json | undefined;

export const readTemplateReference = (
  resource: Pick<MachineResource, 'namespace'>,
  { spec }: ClusterApiMachines,
): ReadReference => templateReference(resource, toJson(spec));

/** What another template means for machines that are there already; '': nothing. */
export const describeReplacement = (kind: MachineResource['kind'], { spec }: ClusterApiMachines): string =>
  replacementNote(kind, toJson(spec));

/** The Secret with user data; null where a bootstrap provider makes it, who knows best what is in it. */
export function readClusterApiUserData({ spec }: ClusterApiMachines): string | null {
  const { configRef, dataSecretName = '' } = spec?.template?.spec?.bootstrap ?? {};
  return dataSecretName === '' && configRef !== undefined ? null : dataSecretName;
}

type ReadTemplate = { readonly apiVersion?: string; readonly spec?: unknown };

/** Which version of a template to ask for. `crdLabels`: those of the CRD of its kind. */
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
  const message = `${reference.kind} ${reference.name}: expected it in version ${versions.join(' or ')}, found ${version ?? 'none that anybody names'}. Opt the machines out of boot image updates`;
  return { ok: false, reading: { ok: false, platform, code: 'SLW_BOOT_IMAGES_TEMPLATE', message } };
}

/** `template`: undefined where there is none. */
export function readTemplate(
  machines: ClusterApiMachines,
  { reference, version }: Extract<TemplateQuestion, { ok: true }>,
  template: ReadTemplate | undefined,
  context: ClusterApiContext,
): MachineReading {
  const { platform } = templateKind(reference.kind);
  const refused = (message: string): MachineReading => ({
    ok: false,
    platform,
    code: 'SLW_BOOT_IMAGES_TEMPLATE',
    message,
  });
  const name = `${reference.kind} ${reference.namespace}/${reference.name}`;
  if (template === undefined) return refused(`there is no ${name}: refer to a template that is there`);
  const spec = fieldAt(toJson(template.spec), 'template', 'spec');
  if (!isJsonObject(spec))
    return refused(`${name}: spec.template.spec: expected what a machine is, found ${shown(spec)}`);
  const failureDomain = machines.spec?.template?.spec?.failureDomain ?? '';
  const rule = templateRule(reference.kind, version, { region: context.region, failureDomain });
  if (rule === null) return refused(`${name}: its version ${version} is not known`);
  const architecture = detectArchitecture(toArchitectureSource(machines), { ...context, platform });
  return { ok: true, platform, architecture, spec, rule };
}

const toArchitectureSource = ({ metadata, spec }: ClusterApiMachines): ArchitectureSource => ({
  metadata,
  spec: { template: { metadata: spec?.template?.metadata } },
});

/**
 * What another template means for machines that are there already; '' where it means nothing: a MachineSet only makes new
 * ones of it. `spec`: that of the resource, of v1beta1 or v1beta2.
 */
export function replacementNote(kind: MachineResource['kind'], spec: Json | undefined): string {
  if (kind === 'MachineSet') return '';
  if (fieldAt(spec, 'paused') === true) return 'it is paused: machines are replaced when it goes on';
  const strategy = textAt(spec, 'rollout', 'strategy', 'type') || textAt(spec, 'strategy', 'type');
  return strategy === 'OnDelete'
    ? 'machines that are there stay until somebody deletes them (strategy OnDelete)'
    : 'machines that are there are replaced, some at a time (strategy RollingUpdate)';
}

// Which infrastructure template machines are made from, in both forms of the reference.

interface TemplateReference {
  readonly kind: TemplateKindName;
  readonly namespace: string;
  readonly name: string;
  /** Null: the labels of the CRD say it. */
  readonly version: string | null;
}

type ReadReference =
  | {
      readonly ok: true;
      readonly reference: TemplateReference;
      /** Name of the Secret with user data; '' where a bootstrap provider makes it. */
      readonly dataSecretName: string;
    }
  | { readonly ok: false; readonly code: 'SLW_BOOT_IMAGES_SPEC'; readonly message: string };

const DNS_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
const PATH = 'spec.template.spec.infrastructureRef';

/** `spec`: that of the MachineSet or MachineDeployment. */
export function templateReference(resource: Pick<MachineResource, 'namespace'>, spec: Json | undefined): ReadReference {
  const found = fieldAt(spec, 'template', 'spec', 'infrastructureRef');
  if (!isJsonObject(found)) return refused(PATH, 'a reference to an infrastructure template', found);
  const { group, version } = parseGroup(found);
  const [kind, name] = [textAt(found, 'kind'), textAt(found, 'name')];
  if (group !== INFRASTRUCTURE_GROUP) return refused(PATH, `a template of ${INFRASTRUCTURE_GROUP}`, found);
  if (!isTemplateKind(kind))
    return refused(`${PATH}.kind`, `one of ${templateKinds.map((each) => each.kind).join(', ')}`, found['kind']);
  if (!DNS_NAME.test(name)) return refused(`${PATH}.name`, 'the name of a template', found['name']);
  // Cluster API takes templates only from the namespace of whoever refers to them.
  const namespace = textAt(found, 'namespace') || resource.namespace;
  if (namespace !== resource.namespace) return refused(`${PATH}.namespace`, resource.namespace, namespace);
  const dataSecretName = textAt(spec, 'template', 'spec', 'bootstrap', 'dataSecretName');
  return { ok: true, reference: { kind, namespace, name, version }, dataSecretName };
}

/** v1beta1 has a version with the group, v1beta2 the group alone. */
function parseGroup(reference: Json): { readonly group: string; readonly version: string | null } {
  const [group = '', version = ''] = textAt(reference, 'apiVersion').split('/');
  return version === '' ? { group: textAt(reference, 'apiGroup'), version: null } : { group, version };
}

const refused = (at: string, expected: string, found: Json | undefined): ReadReference => ({
  ok: false,
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `${at}: expected ${expected}, found ${shown(found)}. Correct it, or opt the machines out of boot image updates.`,
});

/** The contracts of Cluster API: a provider labels its CRDs with the versions that keep one. */
const contracts = ['v1beta2', 'v1beta1'] as const;
const MAX_LABEL = 63;

/**
 * The version to read a template in: that of the reference where the provider keeps it, else the newest that it keeps and we
 * can read. A reference may be older than the provider, which does not serve its version any more. Null: nobody says one.
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

// Templates cannot be changed: another image is another template, named after what is in it.

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

/** A template as an object of the API, of a kind that others bring. */
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

/** As whoever clones it sees it. */
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

/** On a template that we made: a digest of what we put into it; a server may add defaults to that. */
export const TEMPLATE_DIGEST_ANNOTATION = 'slipway.dev/template-digest';

const DIGITS = 8;
const MAX_NAME = 253;

/** By these a tool knows what it has made itself, and takes away what it has not. */
const TOOLS =
  /^(?:argocd\.argoproj\.io|[a-z]+\.toolkit\.fluxcd\.io|(?:meta\.)?helm\.sh|kubectl\.kubernetes\.io|kapp\.k14s\.io)\/|^app\.kubernetes\.io\/(?:instance|managed-by)$|^slipway\.dev\//;

/** `spec`: what spec.template.spec shall be. What is asked for twice has the same name twice. */
export function cloneTemplate(template: MachineTemplate, spec: JsonObject): MachineTemplate {
  const { apiVersion, kind, metadata } = template;
  const whole = { ...template.spec, template: { ...objectAt(template.spec, 'template'), spec } };
  const digest = sha256(canonicalJson({ kind, spec: whole }));
  const base = originalName(template);
  const owners = (metadata.ownerReferences ?? []).filter(isCluster);
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

/** A clone of a clone is one of the first: names do not grow. */
function originalName({ metadata }: MachineTemplate): string {
  const from = metadata.annotations?.[clonedFromAnnotation] ?? '';
  return isOurTemplate({ metadata }) && DNS_NAME.test(from) ? from : metadata.name;
}

const formatCloneName = (base: string, digits: string): string =>
  `${base.slice(0, MAX_NAME - DIGITS - 1).replace(/[-.]+$/, '')}-${digits}`;

const isOurTemplate = ({ metadata: { labels } }: Pick<MachineTemplate, 'metadata'>): boolean =>
  labels?.[MANAGED_BY_LABEL] === MANAGED_BY_SLIPWAY;

const isCluster = ({ apiVersion, kind }: OwnerReference): boolean =>
  kind === 'Cluster' && apiVersion.startsWith('cluster.x-k8s.io/');

const withoutTools = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !TOOLS.test(name)));

/** Whether what is there under the name of a clone is that clone: ours, from the same content, and nothing of it changed. */
export const isSameClone = (existing: MachineTemplate, clone: MachineTemplate): boolean =>
  isOurTemplate(existing) &&
  existing.metadata.annotations?.[TEMPLATE_DIGEST_ANNOTATION] ===
    clone.metadata.annotations?.[TEMPLATE_DIGEST_ANNOTATION] &&
  holds(existing.spec, clone.spec);

/** All of `some`, whatever defaults a server has added to it. */
function holds(all: Json | undefined, some: Json): boolean {
  if (Array.isArray(some)) {
    return Array.isArray(all) && all.length === some.length && some.every((item, at) => holds(all[at], item));
  }
  // A server leaves out what is null.
  if (some === null) return all === null || all === undefined;
  if (!isJsonObject(some)) return all === some;
  return (
    isJsonObject(all) &&
    Object.entries(some).every(([key, value]) => holds(Object.hasOwn(all, key) ? all[key] : undefined, value))
  );
}

/** Who can write templates of one kind. */
export interface TemplateWriter {
  /** False: there is one of that name. */
  create(this: void, template: InfrastructureTemplate): Promise<boolean>;
  get(this: void, name: { namespace: string; name: string }): Promise<InfrastructureTemplate>;
}

/** There is something else under the name of a clone. */
export class CloneTakenError extends Error {
  override readonly name = 'CloneTakenError';
  readonly code = 'SLW_BOOT_IMAGES_TEMPLATE';

  constructor({ kind, metadata }: MachineTemplate) {
    super(
      `${kind} ${metadata.namespace}/${metadata.name}: expected our clone of a template with the new image, found something else of that name. Delete it, or give it another name`,
    );
  }
}

/** Makes it; one that is there is from a run that was killed before it was referred to. */
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

/** Between a clone and the reference to it there is a moment: what is younger may be somebody's that we have not seen yet. */
export const GRACE_MS = 10 * 60_000;

/**
 * Those that may go: ours, old enough, and referred to by nobody. `references`: of all MachineSets and MachineDeployments there
 * are, also those of old revisions and those that are opted out; a list that could not be read whole must not be given here.
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

/** One whose age is not known is young. */
const isOld = ({ metadata }: KeptTemplate, now: number): boolean =>
  metadata.deletionTimestamp === undefined && Date.parse(metadata.creationTimestamp ?? '') <= now - GRACE_MS;
