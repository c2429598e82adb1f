// Which infrastructure template machines of Cluster API are made from, in both forms of the reference.
import { fieldAt, isJsonObject, shown, textAt } from '../json-path.ts';
import type { Json, MachineResource } from '../verdict.ts';
import {
  infrastructureGroup,
  isTemplateKind,
  templateKind,
  type TemplateKindName,
  templateKindNames,
} from './template-kinds.ts';

export interface TemplateReference {
  readonly kind: TemplateKindName;
  readonly namespace: string;
  readonly name: string;
  /** Null: the labels of the CRD say it. */
  readonly version: string | null;
}

export type ReadReference =
  | {
      readonly ok: true;
      readonly reference: TemplateReference;
      /** Name of the Secret with user data; '' where a bootstrap provider makes it. */
      readonly dataSecretName: string;
    }
  | { readonly ok: false; readonly code: 'SLW_BOOT_IMAGES_SPEC'; readonly message: string };

const DNS_NAME = /^[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?$/;
const path = 'spec.template.spec.infrastructureRef';

/** `spec`: that of the MachineSet or MachineDeployment. */
export function templateReference(resource: Pick<MachineResource, 'namespace'>, spec: Json | undefined): ReadReference {
  const found = fieldAt(spec, 'template', 'spec', 'infrastructureRef');
  if (!isJsonObject(found)) return refused(path, 'a reference to an infrastructure template', found);
  const { group, version } = groupOf(found);
  const [kind, name] = [textAt(found, 'kind'), textAt(found, 'name')];
  if (group !== infrastructureGroup) return refused(path, `a template of ${infrastructureGroup}`, found);
  if (!isTemplateKind(kind)) return refused(`${path}.kind`, `one of ${templateKindNames.join(', ')}`, found['kind']);
  if (!DNS_NAME.test(name)) return refused(`${path}.name`, 'the name of a template', found['name']);
  // Cluster API takes templates only from the namespace of whoever refers to them.
  const namespace = textAt(found, 'namespace') || resource.namespace;
  if (namespace !== resource.namespace) return refused(`${path}.namespace`, resource.namespace, namespace);
  const dataSecretName = textAt(spec, 'template', 'spec', 'bootstrap', 'dataSecretName');
  return { ok: true, reference: { kind, namespace, name, version }, dataSecretName };
}

/** v1beta1 has a version with the group, v1beta2 the group alone. */
function groupOf(reference: Json): { readonly group: string; readonly version: string | null } {
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
const LONGEST_LABEL = 63;

/**
 * The version to read a template in: that of the reference where the provider keeps it, else the newest that it keeps and we
 * can read. A reference may be older than the provider, which does not serve its version any more. Null: nobody says one.
 */
export function templateVersion(
  { kind, version }: TemplateReference,
  crdLabels: Readonly<Record<string, string>>,
): string | null {
  const labels = contracts.map((contract) => crdLabels[`cluster.x-k8s.io/${contract}`] ?? '');
  const kept = new Set(labels.flatMap((label) => label.slice(0, LONGEST_LABEL).split('_')));
  if (version !== null && kept.has(version)) return version;
  return templateKind(kind).versions.findLast((each) => kept.has(each)) ?? version;
}
