// node tools/words/check-words.ts [PATH…]
//
// Compares comments, messages and pages with the glossary, below the paths or everywhere, and fails where a word of it is used.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXCEPTIONS } from './exceptions.ts';
import { findWords, isChecked, unusedExceptions } from './find-words.ts';

const root = resolve(import.meta.dirname, '../..');
const paths = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(isChecked)
  // Deleted, and not committed yet.
  .filter((path) => existsSync(join(root, path)));
const found = files.flatMap((path) => findWords(path, readFileSync(join(root, path), 'utf8'), EXCEPTIONS));
for (const { path, line, word, use } of found) console.error(`${path}:${line}: "${word}": write ${use}`);
const unused = paths.length > 0 ? [] : unusedExceptions(EXCEPTIONS, (path) => readFileSync(join(root, path), 'utf8'));
for (const { file, text } of unused) console.error(`${file}: the exception for "${text}" is not needed: remove it`);
if (found.length + unused.length > 0) {
  console.error(`${found.length} words of the glossary in ${files.length} files`);
  process.exitCode = 1;
}
