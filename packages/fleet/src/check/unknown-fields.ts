import type { UnknownField } from '@slipway/api';
import { nearNames } from '@slipway/base/near-names';

/** More fields than this are not listed. */
const MAX_LISTED = 12;

/** What to write instead of a field that the kind does not have. */
export function suggestField({ name, parent, siblings, elsewhere }: UnknownField): string {
  const near = findNear(name, siblings).map((sibling) => join(parent, sibling));
  if (near.length > 0) return `did you mean ${near.join(' or ')}?`;
  if (elsewhere.length > 0) return `${name} belongs under ${elsewhere.slice(0, 2).join(' or ')}`;
  const short = findAbbreviated(name, siblings).map((sibling) => join(parent, sibling));
  if (short.length > 0) return `did you mean ${short.join(' or ')}?`;
  if (siblings.length === 0 || siblings.length > MAX_LISTED) return 'remove it';
  return `remove it. The fields here are ${siblings.toSorted().join(', ')}`;
}

const join = (parent: string, name: string): string => (parent === '' ? name : `${parent}.${name}`);

function findNear(name: string, siblings: readonly string[]): string[] {
  const lower = siblings.map((sibling) => sibling.toLowerCase());
  const asked = name.toLowerCase();
  const near = lower.includes(asked) ? [asked] : nearNames(asked, lower).slice(0, 2);
  return siblings.filter((sibling) => near.includes(sibling.toLowerCase()));
}

/** Fields whose letters contain those of the name in its order, as kernelArguments contains kernelArgs. */
const findAbbreviated = (name: string, siblings: readonly string[]): string[] =>
  name.length < 4 ? [] : siblings.filter((sibling) => containsInOrder(sibling, name)).slice(0, 2);

function containsInOrder(long: string, short: string): boolean {
  let at = 0;
  for (const letter of long.toLowerCase()) if (letter === short[at]?.toLowerCase()) at += 1;
  return at === short.length;
}
