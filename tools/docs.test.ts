import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const notOurs = new Set(['node_modules', '.git', '.slipway', 'coverage']);

/** Every file of the repository, as paths from its root. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return notOurs.has(entry.name) ? [] : filesBelow(path);
  });
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found);

const files = filesBelow('');
const pages = files.filter((path) => path.endsWith('.md'));
const CODE_PATTERN = /\b(SLW_[A-Z][A-Z0-9_]*)/g;

/** Prose only: code contains examples. */
const withoutCode = (text: string): string => text.replaceAll(/^ *```[^]*?^ *```/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Targets of links and images, inline or by reference, that are not on another server. */
const linksIn = (text: string): string[] =>
  [
    ...matches(withoutCode(text), /\]\(([^()\s]+)(?: "[^"]*")?\)/g),
    ...matches(withoutCode(text), /^\[[^\]]+\]: (\S+)/gm),
  ].filter((target) => !/^[a-z][a-z+.-]*:/i.test(target));

/** The anchors of headings. */
const anchorsIn = (text: string): string[] =>
  matches(text.replaceAll(/^ *```[^]*?^ *```/gm, ''), /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );

function leadsNowhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#', 2);
  const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
  if (file.startsWith('..') || !existsSync(join(root, file))) return true;
  return anchor !== undefined && file.endsWith('.md') && !anchorsIn(read(file)).includes(anchor);
}

const catalogues = files.filter((path) => path.endsWith('/errors.ts'));
const codes = [...new Set(catalogues.flatMap((path) => matches(read(path), CODE_PATTERN)))].toSorted();

/** A complete code, or the prefix of a family of codes. */
const isKnown = (mentioned: string): boolean =>
  codes.some((code) => code === mentioned || code.startsWith(`${mentioned}_`));

describe('documentation', () => {
  it('describes every error code once, and none that is gone, in docs/errors.md', () => {
    expect(codes.length).toBeGreaterThan(0);
    expect(matches(read('docs/errors.md'), /^### (SLW_\w+)$/gm).toSorted()).toEqual(codes);
  });

  it('mentions no error code that is gone', () => {
    const mentioned = pages.flatMap((page) => matches(read(page), CODE_PATTERN).map((code) => ({ page, code })));
    expect(mentioned.filter(({ code }) => !isKnown(code))).toEqual([]);
  });

  it('has no broken link', () => {
    const links = pages.flatMap((page) => linksIn(read(page)).map((target) => ({ page, target })));
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter(({ page, target }) => leadsNowhere(page, target))).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const named = pages.flatMap((page) =>
      matches(read(page), /\bnpm (?:run )?((?<=run )[a-z][\w:-]*|start\b|test\b)/g).map((script) => ({ page, script })),
    );
    expect(named.map(({ page }) => page)).toContain('README.md');
    expect(named.filter(({ script }) => scripts[script] === undefined)).toEqual([]);
  });
});
