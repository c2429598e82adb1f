// Paths that a config names on the machine.
import { isAbsolute, isClean } from '../posix-path.ts';
import { show } from '../report.ts';

/** What is wrong with a path of a 3.x config, or null. */
export function pathProblem(path: string): string | null {
  if (path === '') return 'the path is missing';
  if (!isAbsolute(path)) return `the path ${show(path)} is relative: start it with "/"`;
  if (!isClean(path))
    return `the path ${show(path)} is not in its shortest form: no "//", ".", ".." and no "/" at the end`;
  return null;
}
