// The sources of a checkout for the measures: text, lines, and imports between files.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** An import, a re-export or an `import()`; one per statement. */
export interface Import {
  /** As written: `./file.ts`, `@slipway/kube`. */
  readonly specifier: string;
  readonly names: readonly string[];
}

export interface SourceFile {
  /** From the root of the checkout, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** `exports` of each Slipway package: the paths from the root that its name and subpaths resolve to. */
export type PackageExports = ReadonlyMap<string, string>;

export interface House {
  readonly files: readonly SourceFile[];
  readonly exports: PackageExports;
}

const NOT_PRODUCT = [/\.test\.ts$/, /\/testing\//, /\/sample[^/]*\.ts$/, /^packages\/testing\//];

/** Shipped files: `src` of every package, without tests, `testing/`, `sample*.ts` and the package for tests. */
export function isProduct(path: string): boolean {
  return /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !NOT_PRODUCT.some((pattern) => pattern.test(path));
}

export function readHouse(root: string): House {
  const paths = globSync('packages/*/src/**/*.ts', { cwd: root }).filter(isProduct).toSorted();
  return {
    files: paths.map((path) => readSource(path, readFileSync(join(root, path), 'utf8'))),
    exports: new Map(
      globSync('packages/*/package.json', { cwd: root }).flatMap((path) =>
        readExports(dirname(path), JSON.parse(readFileSync(join(root, path), 'utf8'))),
      ),
    ),
  };
}

export function readSource(path: string, text: string): SourceFile {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const imports = [
    ...module.staticImports.map(({ moduleRequest, entries }) => ({
      specifier: moduleRequest.value,
      names: entries.map(({ importName }) => importName.name ?? '*'),
    })),
    ...module.staticExports.flatMap(({ entries }) => {
      const specifier = entries.find(({ moduleRequest }) => moduleRequest !== null)?.moduleRequest?.value;
      return specifier === undefined
        ? []
        : [{ specifier, names: entries.map((entry) => entry.importName.name ?? '*') }];
    }),
    ...module.dynamicImports.map(({ start, moduleRequest }) => ({
      specifier: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
      names: readDestructured(text.slice(0, start)),
    })),
  ];
  return { path, text, imports };
}

/** `a` and `b` of `const { a, b: c } = await import(`. */
function readDestructured(before: string): string[] {
  const [, list = ''] = /\{([^{}]*)\}\s*=\s*await\s*$/.exec(before) ?? [];
  return list.split(',').flatMap((entry) => entry.split(':')[0]?.trim() || []);
}

/** `["@slipway/base/*", "packages/base/src/*.ts"]`: an `exports` of strings only, like all of Slipway's. */
export function readExports(
  directory: string,
  manifest: { name: string; exports?: Record<string, string> },
): [string, string][] {
  return Object.entries(manifest.exports ?? {}).map(([subpath, target]) => [
    posix.join(manifest.name, subpath),
    posix.join(directory, target),
  ]);
}

/** The file that a specifier resolves to, or `undefined` if it is outside the project. */
export function resolveImport(from: string, specifier: string, exports: PackageExports): string | undefined {
  if (specifier.startsWith('.')) return posix.join(dirname(from), specifier);
  const exact = exports.get(specifier);
  if (exact !== undefined) return exact;
  for (const [pattern, target] of exports) {
    if (!pattern.endsWith('/*') || !specifier.startsWith(pattern.slice(0, -1))) continue;
    return target.replace('*', specifier.slice(pattern.length - 1));
  }
  return undefined;
}

export function countLines(text: string): number {
  return text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);
}
