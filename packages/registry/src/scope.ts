/**
 * Part of what registries hold: `registry.example.com`, `registry.example.com/team`, or `*.example.com` for every host
 * below it. Pull secrets and mirrors are bound to scopes.
 */

/** How much of the name (host and repository) the scope covers, in characters; undefined: the name is outside of it. */
export function coverage(scope: string, name: string): number | undefined {
  if (scope.startsWith('*.')) {
    const host = name.split('/', 1)[0] ?? '';
    return host.length > scope.length - 1 && host.endsWith(scope.slice(1)) ? host.length : undefined;
  }
  if (name !== scope && !name.startsWith(`${scope}/`)) return undefined;
  return scope.length;
}

/** The most specific one of the scopes that the name is in: the longest; a whole host before a pattern for it. */
export function mostSpecific(scopes: Iterable<string>, name: string): string | undefined {
  let best: string | undefined;
  for (const scope of scopes) {
    if (coverage(scope, name) !== undefined && (best === undefined || isMoreSpecific(scope, best))) best = scope;
  }
  return best;
}

function isMoreSpecific(scope: string, other: string): boolean {
  if (scope.startsWith('*') !== other.startsWith('*')) return other.startsWith('*');
  return scope.length > other.length;
}
