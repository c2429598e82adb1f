// Paths into a config, as reports and provenance write them: `storage.files[3].contents.source`.

const PLAIN_KEY = /^[A-Za-z_][\w-]*$/;
const SHOWN_KEY_LENGTH = 80;

/** Adds a key; one that would be ambiguous with dots and brackets is written in quotes: `storage["a.b"]`. */
export function joinKey(path: string, key: string): string {
  if (PLAIN_KEY.test(key) && key.length <= SHOWN_KEY_LENGTH) return path === '' ? key : `${path}.${key}`;
  const cut = key.length > SHOWN_KEY_LENGTH ? `${key.slice(0, SHOWN_KEY_LENGTH)}…` : key;
  return `${path}[${JSON.stringify(cut)}]`;
}

export function joinIndex(path: string, index: number): string {
  return `${path}[${index}]`;
}

export function formatPath(segments: readonly (string | number)[]): string {
  let path = '';
  for (const segment of segments)
    path = typeof segment === 'number' ? joinIndex(path, segment) : joinKey(path, segment);
  return path;
}
