// Finds the fields of a config that reference external contents.
import type { AnyConfig } from '../spec/index.ts';
import { atLeast } from '../version.ts';

/** A remote reference with the fields of all spec versions; older ones have fewer. */
export interface Reference {
  source?: string;
  compression?: string;
  httpHeaders?: { name: string; value?: string }[];
  verification?: { hash?: string };
}

/** A reference that stays in the resolved config, with its contents. */
export interface Slot {
  path: string;
  /** The same in every config that sets it: identifies a slot of a merged config in the config it was set in. */
  key: string;
  /** The object inside the config, to be changed in place. */
  reference: Reference;
  /** `authority` contains PEM certificates and is never compressed. */
  holds: 'contents' | 'authority';
}

/** A reference to a config; following it removes it. */
export interface ConfigReference {
  path: string;
  reference: Reference;
}

/** `isWanted`: lists only such contents, besides all authorities. A config can have thousands. */
export function listSlots(config: AnyConfig, isWanted: (reference: Reference) => boolean = () => true): Slot[] {
  return [
    ...authoritySlots(config),
    ...fileSlots(config, isWanted),
    ...keyFileSlots(config).filter(({ reference }) => isWanted(reference)),
  ];
}

export function authoritySlots(config: AnyConfig): Slot[] {
  const authorities: Reference[] = config.ignition.security?.tls?.certificateAuthorities ?? [];
  return authorities.map((reference, index) => ({
    path: `ignition.security.tls.certificateAuthorities[${index}]`,
    key: 'authority',
    reference,
    holds: 'authority',
  }));
}

export function findReplaceReference(config: AnyConfig): ConfigReference | null {
  const reference: Reference | undefined = config.ignition.config?.replace;
  return reference?.source === undefined ? null : { path: 'ignition.config.replace', reference };
}

export function listMergeReferences(config: AnyConfig): ConfigReference[] {
  const configs = config.ignition.config;
  if (configs === undefined) return [];
  const [name, references] = namedConfigs(configs);
  return references.map((reference, index) => ({ path: `ignition.config.${name}[${index}]`, reference }));
}

/** Removes the references to other configs; call it once they have been followed. */
export function withoutConfigReferences<C extends AnyConfig>(config: C): C {
  const { config: _followed, ...ignition } = config.ignition;
  return { ...config, ignition };
}

function namedConfigs(configs: { merge?: Reference[] } | { append?: Reference[] }): [string, Reference[]] {
  if ('append' in configs) return ['append', configs.append ?? []];
  return ['merge', ('merge' in configs ? configs.merge : undefined) ?? []];
}

function fileSlots(config: AnyConfig, isWanted: (reference: Reference) => boolean): Slot[] {
  const slots: Slot[] = [];
  const add = (reference: Reference, index: number, field: string, path: string) => {
    if (isWanted(reference)) slots.push(contents(`storage.files[${index}].${field}`, `file ${path}`, reference));
  };
  for (const [index, file] of (config.storage?.files ?? []).entries()) {
    if (file.contents !== undefined) add(file.contents, index, 'contents', file.path);
    if (!Array.isArray(file.append)) continue;
    for (const [at, reference] of file.append.entries()) add(reference, index, `append[${at}]`, file.path);
  }
  return slots;
}

function keyFileSlots(config: AnyConfig): Slot[] {
  if (!atLeast(config.ignition.version, '3.2.0') || config.storage === undefined || !('luks' in config.storage))
    return [];
  const slots: Slot[] = [];
  for (const [index, luks] of (config.storage.luks ?? []).entries()) {
    if (luks.keyFile === undefined) continue;
    slots.push(contents(`storage.luks[${index}].keyFile`, `luks ${luks.name}`, luks.keyFile));
  }
  return slots;
}

function contents(path: string, key: string, reference: Reference): Slot {
  return { path, key, reference, holds: 'contents' };
}
