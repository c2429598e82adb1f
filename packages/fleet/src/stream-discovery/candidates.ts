// Which tags of a payload may be OS images: only these are looked at in their registry, out of two hundred.
import type { ImageTag } from './image-references.ts';

/** No more than these are asked about: a hundred streams have two images each. */
export const MOST_CANDIDATES = 200;

const sourceAnnotation = 'io.openshift.build.source-location';
/** Not openshift/osin and the like. */
const osSources = /github\.com[/:]openshift\/os(?![\w-])/;
const namePatterns = [
  // As streams were designed: rhel9-coreos, rhel10-coreos-extensions, stream-coreos.
  /^(rhel[\w.+-]*|stream)-coreos[\w.+-]*(-extensions[\w.+-]*)?$/,
  // As payloads have them today: rhel-coreos, rhel-coreos-10-extensions.
  /^(rhel|stream)[a-zA-Z0-9.-]*-coreos[a-zA-Z0-9.-]*(-extensions[a-zA-Z0-9.-]*)?$/,
];

/** Payloads without annotations exist, so either is enough. */
export const isCandidate = ({ name, annotations }: Pick<ImageTag, 'name' | 'annotations'>): boolean =>
  osSources.test(annotations[sourceAnnotation] ?? '') || hasNameOfOs(name);

export const hasNameOfOs = (tag: string): boolean => namePatterns.some((pattern) => pattern.test(tag));
