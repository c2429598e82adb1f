// The platforms whose boot images are managed. The admission policy defines which exist (`bootImagePlatforms` of
// @slipway/api); a platform that is missing here fails to compile.
import type { ImageRule, Platform } from '../verdict.ts';
import { alibabacloud } from './alibabacloud.ts';
import { aws } from './aws.ts';
import { azure } from './azure.ts';
import { baremetal } from './baremetal.ts';
import { gcp } from './gcp.ts';
import { ibmcloud } from './ibmcloud.ts';
import { libvirt } from './libvirt.ts';
import { nutanix } from './nutanix.ts';
import { openstack } from './openstack.ts';
import { ovirt } from './ovirt.ts';
import {
  type ImagePaths,
  type PlatformDef,
  pluralOfTemplate,
  type TemplatePlace,
  type TemplateRule,
} from './platform.ts';
import { powervs } from './powervs.ts';
import { vsphere } from './vsphere.ts';

const defs = {
  aws,
  gcp,
  azure,
  vsphere,
  openstack,
  nutanix,
  powervs,
  ibmcloud,
  baremetal,
  alibabacloud,
  libvirt,
  ovirt,
} as const satisfies { readonly [P in Platform]: PlatformDef & { readonly type: P } };

export const platformDefs: readonly PlatformDef[] = Object.values(defs);

export const platforms: readonly Platform[] = platformDefs.map(({ type }) => type);

export const platformDef = (platform: Platform): PlatformDef => defs[platform];

type Def = (typeof defs)[Platform];
export type TemplateKindName = Extract<Def, { readonly clusterApi: object }>['clusterApi']['kind'];

export interface TemplateKind {
  readonly kind: TemplateKindName;
  readonly platform: Platform;
  /** Its plural in API paths. */
  readonly plural: string;
  /** The versions that we can read, oldest first. */
  readonly versions: readonly string[];
  readonly rules: Readonly<Record<string, TemplateRule>>;
  readonly imagePaths: ImagePaths;
}

/** The infrastructure templates of Cluster API that we support. */
export const templateKinds: readonly TemplateKind[] = Object.values(defs).flatMap((def) => {
  if (!('clusterApi' in def)) return [];
  const { kind, rules, imagePaths } = def.clusterApi;
  return [
    { kind, platform: def.type, plural: pluralOfTemplate(kind), versions: Object.keys(rules), rules, imagePaths },
  ];
});

const byKind = Object.fromEntries(templateKinds.map((each) => [each.kind, each])) as Readonly<
  Record<TemplateKindName, TemplateKind>
>;

export const isTemplateKind = (kind: string): kind is TemplateKindName => Object.hasOwn(byKind, kind);

export const templateKind = (kind: TemplateKindName): TemplateKind => byKind[kind];

/** Null: that version is not supported. */
export function templateRule(kind: TemplateKindName, version: string, place: TemplatePlace): ImageRule | null {
  const { rules } = templateKind(kind);
  const rule = Object.hasOwn(rules, version) ? rules[version] : undefined;
  return rule === undefined ? null : (spec, question) => rule(spec, question, place);
}
