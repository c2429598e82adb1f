import { stringify } from 'yaml';
import { octal } from '../ignition/manifest-yaml.ts';

/** A manifest as YAML that every reader of Kubernetes' YAML takes for the same: what only looks like a number is quoted. */
export function toYaml(value: unknown): string {
  return stringify(value, {
    version: '1.1',
    customTags: (tags) => [octal, ...tags],
    lineWidth: 0,
    aliasDuplicateObjects: false,
  });
}
