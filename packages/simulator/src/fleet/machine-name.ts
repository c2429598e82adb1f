// A simulated machine is named for its pool: its directory is all that is kept of it.

const FORM = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)-(\d{1,6})$/;

export interface MachineName {
  readonly name: string;
  readonly pool: string;
  readonly number: number;
}

export const machineName = (pool: string, number: number): MachineName => ({ name: `${pool}-${number}`, pool, number });

/** Undefined: a directory of somebody else. */
export function readMachineName(name: string): MachineName | undefined {
  const [, pool, , number] = FORM.exec(name) ?? [];
  return pool === undefined || number === undefined ? undefined : { name, pool, number: Number(number) };
}

/** The first that nobody has. */
export function nextMachineName(pool: string, taken: ReadonlySet<string>): MachineName {
  for (let number = 0; ; number += 1) {
    const next = machineName(pool, number);
    if (!taken.has(next.name)) return next;
  }
}

/** By pool, then by number: worker-10 comes after worker-9. */
export const byMachineName = (a: MachineName, b: MachineName): number =>
  a.pool === b.pool ? a.number - b.number : a.pool < b.pool ? -1 : 1;
