// What was last found of every resource, for who reports on all of them. It is no truth: after a start every resource is looked
// at again, and until then nothing is reported.
import { isEqual } from '@slipway/base/equal';
import { type Decision, keyOfMachines, type MachineKind, type MachineResource } from '@slipway/fleet/boot-images';

export interface VerdictBoard {
  /** Tells which ones of a kind there are: until each has been looked at once, counts would say what is not so. */
  begin(kind: MachineKind, resources: readonly MachineResource[]): void;
  /** Whether all that there were of a kind in the beginning have been looked at. */
  isComplete(kind: MachineKind): boolean;
  /** Without what is to be written: once it is, there is another one. */
  put(decision: Decision): void;
  remove(resource: MachineResource): void;
  values(): IterableIterator<Decision>;
  /** Tells when something is other than before. Returns the way to stop that. */
  onChange(listener: () => void): () => void;
}

export function createVerdictBoard(): VerdictBoard {
  const findings = new Map<string, Decision>();
  const unseen = new Map<string, Set<string>>();
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    begin(kind, resources) {
      const keys = new Set(resources.map(keyOfMachines));
      // What is gone went while somebody else led.
      for (const [key, { verdict }] of findings)
        if (wordOf(verdict.resource) === wordOf(kind) && !keys.has(key)) findings.delete(key);
      unseen.set(wordOf(kind), new Set([...keys].filter((key) => !findings.has(key))));
      tell();
    },
    isComplete: (kind) => unseen.get(wordOf(kind))?.size === 0,
    put(decision) {
      const { resource } = decision.verdict;
      const key = keyOfMachines(resource);
      unseen.get(wordOf(resource))?.delete(key);
      const finding = { ...decision, change: null };
      if (isEqual(findings.get(key), finding)) return;
      findings.set(key, finding);
      tell();
    },
    remove(resource) {
      const isUnseen = unseen.get(wordOf(resource))?.delete(keyOfMachines(resource)) === true;
      if (findings.delete(keyOfMachines(resource)) || isUnseen) tell();
    },
    values: () => findings.values(),
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const wordOf = ({ api, kind }: MachineKind): string => `${kind}.${api}`;
