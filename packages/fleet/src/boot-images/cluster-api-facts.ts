// What a MachineSet or MachineDeployment of Cluster API says of its machines, with the template that it refers to.
import type { ClusterApiMachineSet, Infrastructure, MachineDeployment } from '@slipway/api';
import { architectureOf, type SaysArchitecture } from './architecture.ts';
import { regionOfZone } from './cluster-api/aws.ts';
import { replacementNote } from './cluster-api/replacement-note.ts';
import { templateKind, templateRule } from './cluster-api/template-kinds.ts';
import {
  type ReadReference,
  type TemplateReference,
  templateReference,
  templateVersion,
} from './cluster-api/template-reference.ts';
import type { MachineReading } from './facts.ts';
import { fieldAt, isJsonObject, shown } from './json-path.ts';
import type { MachineContext } from './machine-api-facts.ts';
import type { Json, MachineResource } from './verdict.ts';

export type ClusterApiMachines = Pick<ClusterApiMachineSet | MachineDeployment, 'metadata' | 'spec'>;

export interface ClusterApiContext extends MachineContext {
  /** Infrastructure `cluster`: where the machines are; '' where it is not known. */
  readonly region: string;
}

export function regionOf(infrastructure: Pick<Infrastructure, 'status'> | undefined): string {
  const { aws, ibmcloud, powervs } = infrastructure?.status?.platformStatus ?? {};
  return [aws?.region, ibmcloud?.location, powervs?.region].find((region) => region !== undefined) ?? '';
}

/** It came out of JSON. */
const jsonOf = (value: unknown): Json | undefined => value as Json | undefined;

export const referenceOf = (
  resource: Pick<MachineResource, 'namespace'>,
  { spec }: ClusterApiMachines,
): ReadReference => templateReference(resource, jsonOf(spec));

/** What another template means for machines that are there already; '': nothing. */
export const consequenceOf = (kind: MachineResource['kind'], { spec }: ClusterApiMachines): string =>
  replacementNote(kind, jsonOf(spec));

/** The Secret with user data; null where a bootstrap provider makes it, who knows best what is in it. */
export function clusterApiUserDataOf({ spec }: ClusterApiMachines): string | null {
  const { configRef, dataSecretName = '' } = spec?.template?.spec?.bootstrap ?? {};
  return dataSecretName === '' && configRef !== undefined ? null : dataSecretName;
}

export type ReadTemplate = { readonly apiVersion?: string; readonly spec?: unknown };

/** Which version of a template to ask for. `crdLabels`: those of the CRD of its kind. */
export type TemplateQuestion =
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
  const spec = fieldAt(jsonOf(template.spec), 'template', 'spec');
  if (!isJsonObject(spec))
    return refused(`${name}: spec.template.spec: expected what a machine is, found ${shown(spec)}`);
  const region = context.region || regionOfZone(machines.spec?.template?.spec?.failureDomain ?? '');
  const rule = templateRule(reference.kind, version, { region });
  if (rule === null) return refused(`${name}: its version ${version} is not known`);
  return { ok: true, platform, architecture: architectureOf(saysOf(machines), { ...context, platform }), spec, rule };
}

const saysOf = ({ metadata, spec }: ClusterApiMachines): SaysArchitecture => ({
  metadata,
  spec: { template: { metadata: spec?.template?.metadata } },
});
