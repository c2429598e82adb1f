import { word } from '../platforms/commands.ts';
import type { JsonObject, MachineResource } from '../verdict.ts';

const LONGEST_BASE = 200;

/**
 * Lets machines use what was imported: a template cannot be changed, so another one is made and referred to. `fields`: what
 * changes of spec.template.spec; null takes a field away.
 */
export function templateCommands(
  { kind, namespace, name }: MachineResource,
  plural: string,
  version: string,
  fields: JsonObject,
): readonly string[] {
  const kubectl = `kubectl --namespace ${word(namespace)}`;
  const resource = `${kind.toLowerCase()}s.cluster.x-k8s.io ${word(name)}`;
  const template = `${name.slice(0, LONGEST_BASE)}-${version.replaceAll(/[^a-z0-9]+/g, '-')}`;
  const clone = `{apiVersion, kind, metadata: {name: $name}, spec} | .spec.template.spec |= (. + $fields | with_entries(select(.value != null)))`;
  const reference = { spec: { template: { spec: { infrastructureRef: { name: template } } } } };
  return [
    `TEMPLATE=$(${kubectl} get ${resource} --output jsonpath='{.spec.template.spec.infrastructureRef.name}')`,
    `${kubectl} get ${plural}.infrastructure.cluster.x-k8s.io "$TEMPLATE" --output json | jq --arg name ${word(template)} --argjson fields ${word(JSON.stringify(fields))} ${word(clone)} | ${kubectl} create --filename -`,
    `${kubectl} patch ${resource} --type merge --patch ${word(JSON.stringify(reference))}`,
  ];
}
