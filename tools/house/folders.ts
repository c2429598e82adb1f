// Imports between folders: jobs that import each other, cycles, folders with too many files.
import { dirname } from 'node:path';
import { countLines, type House, resolveImport } from './source.ts';

/** One import statement between two product files. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Every import statement from a product file to a product file; `./x` and `@slipway/…` alike. */
export function listEdges({ files, exports }: House): Edge[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.flatMap(({ path, imports }) =>
    imports.flatMap(({ specifier }) => {
      const to = resolveImport(path, specifier, exports);
      return to !== undefined && to !== path && paths.has(to) ? [{ from: path, to }] : [];
    }),
  );
}

/** Product files directly in each folder; fullest first. */
export function countByFolder(house: House): [folder: string, files: number][] {
  const counts = new Map<string, number>();
  for (const { path } of house.files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

/**
 * The folder directly below `src` that contains a file at any depth: a job of `controllers`, a part of another package.
 * Files of `src` itself are in none: folders share them, or they connect the folders.
 */
export function findPart(path: string): { package: string; folder: string } | undefined {
  const [, name, folder] = /^packages\/([^/]+)\/src\/([^/]+)\//.exec(path) ?? [];
  return name === undefined || folder === undefined ? undefined : { package: name, folder };
}

/** Import statements between two folders of `src` of the package. In `controllers` these connect jobs. */
export function listCrossings(edges: readonly Edge[], packageName: string): Edge[] {
  return edges.filter(({ from, to }) => {
    const [a, b] = [findPart(from), findPart(to)];
    return a?.package === packageName && b?.package === packageName && a.folder !== b.folder;
  });
}

/** Groups of folders that reach each other by imports, directly or through other folders. */
export function findCycles(crossings: readonly Edge[]): string[][] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of crossings) {
    const [a, b] = [findPart(from)?.folder ?? '', findPart(to)?.folder ?? ''];
    next.set(a, (next.get(a) ?? new Set()).add(b));
  }
  const reached = new Map([...next.keys()].map((folder) => [folder, listReachable(folder, next)]));
  const reaches = (a: string, b: string): boolean => reached.get(a)?.has(b) === true;
  const cycles: string[][] = [];
  for (const folder of [...next.keys()].toSorted()) {
    if (!reaches(folder, folder) || cycles.some((cycle) => cycle.includes(folder))) continue;
    cycles.push([...next.keys()].filter((other) => reaches(folder, other) && reaches(other, folder)).toSorted());
  }
  return cycles;
}

function listReachable(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const waiting = [...(next.get(start) ?? [])];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (reached.has(folder)) continue;
    reached.add(folder);
    waiting.push(...(next.get(folder) ?? []));
  }
  return reached;
}

const SMALL_LINES = 40;

export interface SmallFile {
  readonly path: string;
  readonly lines: number;
  readonly importer: string;
}

/** Files of at most 40 lines that exactly one product file imports: usually pieces of that file. */
export function listSmallFiles(house: House, edges: readonly Edge[]): SmallFile[] {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of edges) importers.set(to, (importers.get(to) ?? new Set()).add(from));
  return house.files.flatMap(({ path, text }) => {
    const [importer, ...others] = importers.get(path) ?? [];
    const lines = countLines(text);
    return importer !== undefined && others.length === 0 && lines <= SMALL_LINES ? [{ path, lines, importer }] : [];
  });
}
