/** The list as a field of an object, unless it is absent or empty: a config in normal form has no empty lists. */
export function withList<N extends string, I>(name: N, items: readonly I[] | undefined): { [K in N]?: I[] } {
  if (items === undefined || items.length === 0) return {};
  const field: { [K in N]?: I[] } = {};
  return Object.assign(field, { [name]: [...items] });
}
