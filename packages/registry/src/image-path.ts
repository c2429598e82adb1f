/** A path inside of an image, from its root, without a / at either end: `release-manifests/image-references`. */

/** Undefined: the path leads out of the image. */
export function normalisePath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.join('/');
}

/** Where a symbolic link leads. Like in a container, nothing leads above the root. */
export function resolveLink(link: string, target: string): string {
  const parts = target.startsWith('/') ? [] : link.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export const isBelow = (path: string, folder: string): boolean =>
  path !== folder && (folder === '' || path.startsWith(`${folder}/`));
