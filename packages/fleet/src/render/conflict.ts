// MachineConfigs that are valid individually but not together: which of them collide.
import { isRecord } from '@slipway/base/json';
import { checkContents, type Provenance, validate } from '@slipway/ignition';
import { belowFiles, type RenderedIgnition } from './ignition.ts';
import { fieldOfConfig, firstProblems, nameOfMachineConfig, problemAt, type RenderProblem } from './problem.ts';
import { type RenderInput } from './input.ts';
import { computeStoredSize } from './size.ts';

/** One list entry of the config, such as a file: its list, its index, and its path in the config. */
interface Item {
  readonly section: string;
  readonly list: string;
  readonly index: number;
  readonly path: string;
}

export async function conflictProblems(
  config: RenderedIgnition,
  provenance: Provenance,
  inputs: readonly RenderInput[],
): Promise<RenderProblem[]> {
  const errors = [
    ...validate(config).filter((entry) => entry.kind === 'error'),
    ...belowFiles(config),
    ...(await checkContents(config, (path) => isMixed(path, provenance))),
  ];
  if (errors.length === 0) return [];
  const setters = settersByItem(provenance);
  const order = new Map(inputs.map(({ name }, index) => [name, index]));
  const problems = errors.map(({ path, message }) => {
    const item = itemAt(path);
    const involved = new Set(item === null ? settersBelow(provenance, path) : setters.get(item.path));
    if (item !== null)
      for (const other of othersAt(config, item)) for (const name of setters.get(other) ?? []) involved.add(name);
    const names = [...involved].sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
    return conflictProblem(names, fieldFor(path, item, names.at(-1), config, inputs), message);
  });
  return firstProblems(problems);
}

/** Whether the parts of contents come from different MachineConfigs. Those of one were checked when it was read. */
function isMixed(path: string, provenance: Provenance): boolean {
  const parts = ['source', 'compression', 'verification.hash'];
  const names = parts.map((part) => provenance.get(`${path}.${part}`)?.from).filter((name) => name !== undefined);
  return new Set(names).size > 1;
}

/** Names the last one merged as the object: the others were valid without it. */
function conflictProblem(names: readonly string[], field: string, message: string): RenderProblem {
  const together = names.map(nameOfMachineConfig).join(', ');
  const remediation =
    names.length > 1 ? 'Each is valid alone: change one of them to resolve the conflict' : 'Change one of the two';
  const text = `merged from ${together}, ${message}. ${remediation}`;
  return problemAt('SLW_RENDER_CONFLICT', nameOfMachineConfig(names.at(-1) ?? ''), field, text);
}

function itemAt(path: string): Item | null {
  const match = /^(\w+)\.(\w+)\[(\d+)\]/.exec(path);
  if (match === null) return null;
  const [found, section = '', list = '', index = ''] = match;
  return { section, list, index: Number(index), path: found };
}

function settersByItem(provenance: Provenance): Map<string, Set<string>> {
  const setters = new Map<string, Set<string>>();
  for (const [path, { from, overrode }] of provenance) {
    const item = itemAt(path)?.path ?? path;
    const names = setters.get(item) ?? new Set<string>();
    setters.set(item, names);
    for (const name of [...overrode, from]) names.add(name);
  }
  return setters;
}

function settersBelow(provenance: Provenance, path: string): string[] {
  const names: string[] = [];
  for (const [leaf, { from, overrode }] of provenance) if (leaf.startsWith(path)) names.push(...overrode, from);
  return names;
}

const UNIT_DIRECTORY = '/etc/systemd/system/';

/** What an item at a path can collide with: files and links above it, a directory it hard-links to, or a unit at that path. */
function othersAt(config: RenderedIgnition, item: Item): string[] {
  if (item.section !== 'storage') return [];
  const { path, target } = nodeAt(config, item);
  if (path === '') return [];
  const { files = [], links = [], directories = [] } = config.storage ?? {};
  const others: string[] = [];
  for (const [list, above] of Object.entries({ files, links })) {
    above.forEach((node, index) => {
      if (path.startsWith(`${node.path}/`)) others.push(`storage.${list}[${index}]`);
    });
  }
  directories.forEach((directory, index) => {
    if (directory.path === target) others.push(`storage.directories[${index}]`);
  });
  config.systemd?.units?.forEach(({ name }, index) => {
    const unitPath = `${UNIT_DIRECTORY}${name}`;
    if (path === unitPath || path.startsWith(`${unitPath}.d/`)) others.push(`systemd.units[${index}]`);
  });
  return others;
}

function nodeAt(config: RenderedIgnition, { list, index }: Item): { path: string; target?: string } {
  const { files, directories, links } = config.storage ?? {};
  const lists: Readonly<Record<string, readonly { path: string; target?: string }[] | undefined>> = {
    files,
    directories,
    links,
  };
  return lists[list]?.[index] ?? { path: '' };
}

/** The field with the index in the MachineConfig itself, if it can be found there. */
function fieldFor(
  path: string,
  item: Item | null,
  name: string | undefined,
  config: RenderedIgnition,
  inputs: readonly RenderInput[],
): string {
  const input = inputs.find((each) => each.name === name);
  if (item === null || input === undefined) return fieldOfConfig(path);
  const key = findItemKey(listIn(config, item)[item.index]);
  const index = listIn(input.config, item).findIndex((each) => findItemKey(each) === key);
  return index < 0
    ? 'spec.config'
    : fieldOfConfig(`${item.section}.${item.list}[${index}]${path.slice(item.path.length)}`);
}

function listIn(config: RenderedIgnition, { section, list }: Item): unknown[] {
  const lists: unknown = Reflect.get(config, section);
  const items = isRecord(lists) ? lists[list] : undefined;
  return Array.isArray(items) ? items : [];
}

function findItemKey(item: unknown): unknown {
  if (!isRecord(item)) return item;
  return ['path', 'name', 'device'].map((field) => item[field]).find((key) => typeof key === 'string');
}

// What makes a rendered config large, for users who must make it smaller.

export interface Contributor {
  /** Such as `file /etc/large.bin` or `unit app.service`. */
  readonly what: string;
  readonly bytes: number;
  /** The MachineConfig that set it, or most of it. */
  readonly from: string;
}

const SHOWN = 5;
const MAX_NAME = 200;

/** The largest files and units, the largest first. */
export function largestContributors(config: RenderedIgnition, provenance: Provenance): Contributor[] {
  const from = (...paths: string[]) =>
    paths.map((path) => provenance.get(path)?.from).find((name) => name !== undefined) ?? '';
  const files = (config.storage?.files ?? []).map((file, index) => {
    const at = `storage.files[${index}]`;
    const what = `file ${file.path.slice(0, MAX_NAME)}`;
    return {
      what,
      bytes: computeStoredSize(file),
      from: from(`${at}.contents.source`, `${at}.append[0].source`, `${at}.path`),
    };
  });
  const units = (config.systemd?.units ?? []).map((unit, index) => {
    const at = `systemd.units[${index}]`;
    const what = `unit ${unit.name.slice(0, MAX_NAME)}`;
    return {
      what,
      bytes: computeStoredSize(unit),
      from: from(`${at}.contents`, `${at}.dropins[0].contents`, `${at}.name`),
    };
  });
  return [...files, ...units].sort((a, b) => b.bytes - a.bytes).slice(0, SHOWN);
}

export function describeContributors(contributors: readonly Contributor[]): string {
  return contributors
    .map(({ what, bytes, from }) => `${what} with ${bytes} bytes from ${nameOfMachineConfig(from)}`)
    .join('; ');
}
