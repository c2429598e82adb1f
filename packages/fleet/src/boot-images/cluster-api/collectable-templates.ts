import { isOurTemplate, type MachineTemplate } from './clone-template.ts';

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
