// Every spec version by its number: the tables and the types.
import type { SpecVersion } from '../version.ts';
import type { Kind, Shape } from './field.ts';
import { config as v2_2, type Config as Config2_2 } from './v2_2.ts';
import { config as v2_3, type Config as Config2_3 } from './v2_3.ts';
import { config as v2_4, type Config as Config2_4 } from './v2_4.ts';
import { config as v3_0, type Config as Config3_0 } from './v3_0.ts';
import { config as v3_1, type Config as Config3_1 } from './v3_1.ts';
import { config as v3_2, type Config as Config3_2 } from './v3_2.ts';
import { config as v3_3, type Config as Config3_3 } from './v3_3.ts';
import { config as v3_4, type Config as Config3_4 } from './v3_4.ts';
import { config as v3_5, type Config as Config3_5 } from './v3_5.ts';
import { config as v3_6, type Config as Config3_6 } from './v3_6.ts';

interface ConfigByVersion {
  '2.2.0': Config2_2;
  '2.3.0': Config2_3;
  '2.4.0': Config2_4;
  '3.0.0': Config3_0;
  '3.1.0': Config3_1;
  '3.2.0': Config3_2;
  '3.3.0': Config3_3;
  '3.4.0': Config3_4;
  '3.5.0': Config3_5;
  '3.6.0': Config3_6;
}

export type ConfigOf<V extends SpecVersion> = ConfigByVersion[V];
export type AnyConfig = ConfigOf<SpecVersion>;

/** A config of any 2.x spec. */
export type Config2 = ConfigOf<'2.2.0' | '2.3.0' | '2.4.0'>;

export const isSpec2 = (config: AnyConfig): config is Config2 => config.ignition.version.startsWith('2.');

/** A config of any 3.x spec. */
export type Config3 = Exclude<AnyConfig, Config2>;

/** The newest spec. */
export type Config = ConfigOf<'3.6.0'>;

const SPECS: Readonly<Record<SpecVersion, Shape>> = {
  '2.2.0': v2_2,
  '2.3.0': v2_3,
  '2.4.0': v2_4,
  '3.0.0': v3_0,
  '3.1.0': v3_1,
  '3.2.0': v3_2,
  '3.3.0': v3_3,
  '3.4.0': v3_4,
  '3.5.0': v3_5,
  '3.6.0': v3_6,
};

/** The field table of a spec version. */
export function specOf(version: SpecVersion): Shape {
  return SPECS[version];
}

/** The names of all integer fields of all versions, and the maximum depth. */
export const INTEGER_FIELDS = collectIntegers();

function collectIntegers(): { names: ReadonlySet<string>; depth: number } {
  const names = new Set<string>();
  let deepest = 0;
  const visit = (kind: Kind, depth: number): void => {
    if (kind.type === 'list') visit(kind.item, depth + 1);
    if (kind.type !== 'object') return;
    for (const [name, field] of kind.entries) {
      visit(field.kind, depth + 1);
      if (field.kind.type !== 'int') continue;
      names.add(name);
      deepest = Math.max(deepest, depth);
    }
  };
  for (const shape of Object.values(SPECS)) visit(shape, 1);
  return { names, depth: deepest };
}

/** Narrows a config of any version to one version. */
export function isOfVersion<V extends SpecVersion>(config: AnyConfig, version: V): config is AnyConfig & ConfigOf<V> {
  return config.ignition.version === version;
}
