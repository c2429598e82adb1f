// What an image of a payload is, by its labels.
import { streamClassLabel } from '../os-streams/runs.ts';
import { hasNameOfOs } from './candidates.ts';
import type { SourceImage } from './discovery.ts';

const osLabel = 'containers.bootc';
const extensionsLabel = 'io.openshift.os.extensions';

export type Role = 'os' | 'extensions';

/**
 * The labels say it; where they do not, the source, and then the tag. `contradiction`: a source says one thing and the
 * labels another. Null: it is neither.
 */
export function roleOf({
  labels,
  tag,
  role,
}: Pick<SourceImage, 'labels' | 'tag' | 'role'>): Role | 'contradiction' | null {
  const labelled = roleOfLabels(labels);
  if (role !== null) return labelled === null || labelled === role ? role : 'contradiction';
  return labelled ?? (tag === null ? null : roleOfTag(tag));
}

function roleOfLabels(labels: SourceImage['labels']): Role | null {
  if (isSet(labels[osLabel])) return 'os';
  return isSet(labels[extensionsLabel]) ? 'extensions' : null;
}

const isSet = (value: string | undefined): boolean => value === '1' || value?.toLowerCase() === 'true';

function roleOfTag(tag: string): Role | null {
  if (!hasNameOfOs(tag)) return null;
  return tag.includes('-extensions') ? 'extensions' : 'os';
}

/** Null: it has no label. */
export function streamOfImage(labels: SourceImage['labels']): string | null {
  const name = labels[streamClassLabel]?.trim() ?? '';
  return name === '' ? null : name;
}
