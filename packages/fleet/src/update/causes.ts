// What each thing that changes asks for.
import { REGISTRIES_PATH } from './default-policy.ts';
import {
  alwaysReboots,
  type NodeDisruptionPolicy,
  rulingForFile,
  rulingForSshKey,
  rulingForUnit,
  type Ruling,
} from './policy.ts';
import type { Cause, Change, ChangedItem, PathChange } from './update-plan.ts';
import { unitOf } from './units.ts';

export interface Circumstances {
  readonly policy: NodeDisruptionPolicy;
  /** Asked only if the file has changed and the built-in entry counts. */
  readonly addsMirrorsOnly: () => boolean;
  /** Whether anything on the machine comes from the image with the extensions. What came from it and goes is a change itself. */
  readonly usesExtensionsImage: boolean;
}

/** One for each item, by kind and name. */
export function causesOf(changes: readonly Change[], circumstances: Circumstances): Cause[] {
  const items = new Map(changes.flatMap(itemsIn).map((item) => [`${item.kind} ${item.name}`, item]));
  return [...items]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => Object.assign({ item }, rulingFor(item, circumstances)));
}

function itemsIn(change: Change): ChangedItem[] {
  switch (change.kind) {
    case 'path':
      return itemsAt(change);
    case 'unit':
      return [{ kind: 'unit', name: change.unit }];
    case 'ssh keys':
    case 'password':
      return [{ kind: change.kind, name: change.user }];
    case 'kernel arguments':
      return [{ kind: 'machine setting', name: 'kernelArguments' }];
    case 'extensions':
      return [{ kind: 'machine setting', name: 'extensions' }];
    case 'setting':
      return [{ kind: 'machine setting', name: change.setting }];
  }
}

/** Two, where a file of its own becomes one of a unit or the other way round. */
function itemsAt({ path, before, after }: PathChange): ChangedItem[] {
  return [before, after].flatMap((state): ChangedItem[] => {
    if (state === null) return [];
    const unit = unitOf(path, state);
    return [unit === null ? { kind: 'file', name: path } : { kind: 'unit', name: unit }];
  });
}

function rulingFor(
  { kind, name }: ChangedItem,
  { policy, addsMirrorsOnly, usesExtensionsImage }: Circumstances,
): Ruling {
  switch (kind) {
    case 'file':
      // The entry covers what is below its path as well, which is another file.
      return rulingForFile(name, policy, () => name === REGISTRIES_PATH && addsMirrorsOnly());
    case 'unit':
      return rulingForUnit(name, policy);
    case 'ssh keys':
    case 'password':
      return rulingForSshKey(policy);
    case 'machine setting':
      if (name !== 'baseOSExtensionsContainerImage' || usesExtensionsImage) {
        return alwaysReboots(`a change of ${name} takes a reboot, whatever the policy says`);
      }
      return { actions: [], rule: 'always', entry: '', because: 'nothing on the machine comes from this image' };
  }
}
