import { resolve } from 'node:path';
import { findDuplicates } from './duplicates.ts';
import { listLongFunctions } from './functions.ts';
import { countByFolder, type Edge, findCycles, listCrossings, listEdges, listSmallFiles } from './folders.ts';
import { countLines, type House, readHouse, type SourceFile } from './source.ts';

export type MeasureName =
  | 'product files'
  | 'product lines'
  | 'median lines'
  | 'longest function'
  | 'fullest folder'
  | 'cross-job imports'
  | 'folder cycles'
  | 'folder cycles elsewhere'
  | 'CLI files importing controllers'
  | 'names that the CLI imports from controllers'
  | 'small single-importer files'
  | 'small files beside their only importer'
  | 'duplicates of 8 lines or more'
  | 'raw client.patch'
  | 'raw client.create, apply and delete';

export interface HouseMeasure {
  readonly name: MeasureName;
  readonly value: number;
  /** What is counted, one line each. */
  readonly places: readonly string[];
}

const JSCPD = resolve(import.meta.dirname, '../../node_modules/.bin/jscpd');

/** Every measure of a checkout; the slowest is jscpd, with about a second. */
export function measureHouse(root: string): HouseMeasure[] {
  const house = readHouse(root);
  const duplicates = findDuplicates(
    root,
    house.files.map(({ path }) => path),
    JSCPD,
  );
  const functions = listLongFunctions(root);
  return [
    ...measureFiles(house),
    {
      name: 'longest function',
      value: functions[0]?.lines ?? 0,
      places: functions.map(({ place, lines }) => `${place}: ${lines} lines`),
    },
    ...measureFolders(house),
    ...measureCli(house),
    countPlaces(
      'duplicates of 8 lines or more',
      duplicates.map(({ lines, places }) => `${places.join(' and ')}: ${lines} lines`),
    ),
    ...measureWrites(house),
  ];
}

function measureFiles({ files }: House): HouseMeasure[] {
  const lines = files.map(({ text }) => countLines(text));
  return [
    { name: 'product files', value: files.length, places: [] },
    { name: 'product lines', value: lines.reduce((sum, each) => sum + each, 0), places: [] },
    { name: 'median lines', value: findMedian(lines), places: [] },
  ];
}

export function findMedian(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

/**
 * - A job is a folder directly below `controllers/src`. Jobs meet in API objects, and in the files of `controllers/src` itself:
 *   a cross-job import is an import statement from a file in one job to a file in another.
 * - Folder cycles are counted in `controllers` and `fleet`, each for itself, over the same folders. Folders of `fleet` may
 *   import each other, because a decision is made of smaller ones, but never in a circle.
 * - A file that is imported by name (`@slipway/base/text`) has importers in other packages.
 */
function measureFolders(house: House): HouseMeasure[] {
  const edges = listEdges(house);
  const folders = countByFolder(house);
  const small = listSmallFiles(house, edges);
  const formatSmall = ({ path, lines, importer }: (typeof small)[number]): string =>
    `${path}: ${lines} lines, imported by ${importer}`;
  const others = listPackages(house).filter((name) => !['controllers', 'fleet'].includes(name));
  return [
    {
      name: 'fullest folder',
      value: folders[0]?.[1] ?? 0,
      places: folders.map(([folder, files]) => `${folder}: ${files} files`).slice(0, 10),
    },
    countPlaces('cross-job imports', listCrossings(edges, 'controllers').map(formatEdge)),
    countPlaces(
      'folder cycles',
      ['controllers', 'fleet'].flatMap((name) => listCycles(edges, name)),
    ),
    countPlaces(
      'folder cycles elsewhere',
      others.flatMap((name) => listCycles(edges, name)),
    ),
    countPlaces('small single-importer files', small.map(formatSmall)),
    countPlaces('small files beside their only importer', small.filter(isBesideImporter).map(formatSmall)),
  ];
}

function listPackages({ files }: House): string[] {
  return [...new Set(files.map(({ path }) => path.split('/')[1] ?? ''))];
}

function listCycles(edges: readonly Edge[], packageName: string): string[] {
  return findCycles(listCrossings(edges, packageName)).map((cycle) => `${packageName}: ${cycle.join(', ')}`);
}

function isBesideImporter({ path, importer }: { path: string; importer: string }): boolean {
  return path.slice(0, path.lastIndexOf('/')) === importer.slice(0, importer.lastIndexOf('/'));
}

const formatEdge = ({ from, to }: Edge): string => `${from} imports ${to}`;

/** The CLI may start controllers, in one file; its decisions are in fleet. */
export function measureCli({ files }: House): HouseMeasure[] {
  const imports = files
    .filter(({ path }) => path.startsWith('packages/slipway/'))
    .flatMap((file) => file.imports.map((each) => ({ file, ...each })))
    .filter(({ specifier }) => /^@slipway\/controllers(\/|$)/.test(specifier));
  return [
    countPlaces('CLI files importing controllers', [...new Set(imports.map(({ file }) => file.path))]),
    countPlaces('names that the CLI imports from controllers', [...new Set(imports.flatMap(({ names }) => names))]),
  ];
}

/** Writes that bypass the writer, which adds precondition and field manager. */
export function measureWrites({ files }: House): HouseMeasure[] {
  const writing = files.filter(({ path }) => /^packages\/(controllers|daemon|slipway)\//.test(path));
  return [
    countPlaces('raw client.patch', listCalls(writing, 'patch')),
    countPlaces('raw client.create, apply and delete', listCalls(writing, 'create|apply|delete')),
  ];
}

function listCalls(files: readonly SourceFile[], methods: string): string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(new RegExp(`\\b(?:client|\\w+Client)(?:\\(\\))?\\s*\\.(?:${methods})\\b`, 'g'))].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  );
}

function countPlaces(name: MeasureName, places: readonly string[]): HouseMeasure {
  return { name, value: places.length, places };
}
