import type { Exception } from './exceptions.ts';
import { GLOSSARY } from './glossary.ts';
import { readProse } from './texts.ts';

export interface FoundWord {
  readonly path: string;
  readonly line: number;
  readonly word: string;
  readonly use: string;
}

/** Product code, its CRDs and policies, and every page. Tests have titles of their own, and no users. */
export function isChecked(path: string): boolean {
  if (/\.test\.ts$|\/(testing|test)\//.test(path)) return false;
  return /^packages\/[^/]+\/src\/.*\.ts$|^deploy\/.*\.yaml$|^(docs\/.*|packages\/[^/]+\/[^/]+|[^/]+)\.md$/.test(path);
}

export function findWords(path: string, source: string, exceptions: readonly Exception[]): FoundWord[] {
  const allowed = exceptions.filter(({ file }) => file === path);
  return readProse(path, source).flatMap(({ line, text }) => {
    if (allowed.some((exception) => text.includes(exception.text))) return [];
    return GLOSSARY.flatMap(({ pattern, use }) => {
      const [word] = pattern.exec(text) ?? [];
      return word === undefined ? [] : [{ path, line, word, use }];
    });
  });
}

/** Whose line has no word of the glossary, or is gone. */
export function unusedExceptions(exceptions: readonly Exception[], read: (path: string) => string): Exception[] {
  return exceptions.filter(({ file, text }) => {
    const line = readProse(file, read(file)).find((prose) => prose.text.includes(text));
    return line === undefined || !GLOSSARY.some(({ pattern }) => pattern.test(line.text));
  });
}
